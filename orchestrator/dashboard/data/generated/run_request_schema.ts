// Generated from protocols/schemas/run-request.schema.json by generate_types.mjs: change the schema, not this file.

/**
 * The body of POST /api/v1/runs and the receipt's request. Unknown keys are refused.
 */
export type WhatACallerAsksFor = ({
/**
 * a named model size; give this or model
 */
preset?: ("smoke" | "tiny" | "small" | "medium" | "large" | "xl" | "huge" | "massive" | "mega" | "behemoth")
/**
 * a custom size
 */
model?: {
/**
 * transformer blocks
 */
layers: number
/**
 * width; a multiple of heads
 */
d_model: number
/**
 * tokens a sequence
 */
ctx: number
/**
 * sequences a step
 */
batch: number
/**
 * attention heads
 */
heads: number
}
/**
 * timed steps a block
 */
steps?: number
/**
 * warm-up steps a block, kept apart
 */
warmup?: number
/**
 * A, the baseline, then B
 * 
 * @minItems 2
 * @maxItems 2
 */
arms?: string[]
/**
 * how many A B B A (or B A A B) the run makes; auto adds them until the interval is as narrow as asked
 */
quadruples?: (number | "auto" | {
auto: {
/**
 * the most quadruples
 */
bound?: number
/**
 * relative half-width of the 95 % interval asked for
 */
half_width?: number
}
})
/**
 * 64 bits, of weights, batches and order: a number up to 2^53, or decimal digits as a text
 */
seed?: (number | string)
/**
 * a registered adapter policy
 */
policy?: string
/**
 * a registered environment policy
 */
environment_policy?: string
/**
 * builtin, a registered name, or a SHA-256 in hex; never a path
 */
corpus?: string
/**
 * threads of the multi-threaded arms; absent: chosen from the machine
 */
threads?: number
/**
 * run although the policy is not met; the verdict then says unqualified
 */
allow_unqualified?: boolean
/**
 * ABBA or BAAB by the seed, from two quadruples on; false: ABBA always
 */
randomise_order?: boolean
/**
 * free text of the caller; at most 200 bytes, no control characters
 */
label?: string
/**
 * steps of the pipelined throughput figure; 0 leaves it out
 */
pipelined_steps?: number
/**
 * pause between blocks
 */
cool_down_seconds?: number
/**
 * test hook: how often the update's arithmetic runs
 */
repeat_optimizer?: number
} & {
[k: string]: unknown
})
