// Generated from protocols/schemas/receipt.schema.json by generate_types.mjs: change the schema, not this file.

/**
 * RFC 3339 in UTC
 */
export type Utc = string
/**
 * what was asked
 */
export type Request = ({
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
export type Sha256 = string

/**
 * The inner document of a receipt file. What was not measured is absent, never zero. Minor versions add fields; a new major version may change them.
 */
export interface AReceiptOneRunWithEverySampleItMade {
/**
 * assay.receipt/MAJOR.MINOR
 */
schema: string
/**
 * the receipt's id
 */
id: string
/**
 * the run's id
 */
run_id: string
created_at: Utc
/**
 * the class of evidence; classes are never mixed
 */
evidence: ("measured" | "derived" | "observed" | "historical" | "projected" | "not-measured")
request: Request
machine?: Machine
browser?: {
/**
 * name and version
 */
product: string
path?: string
user_agent?: string
javascript_version?: string
/**
 * the exact command line after the binary
 */
switches: string[]
}
environment?: Environment
adapter?: AdapterViews
inputs: {
/**
 * of the initial weights
 */
weights_sha256?: string
/**
 * of the batches in order
 */
batches_sha256?: string
corpus_sha256?: Sha256
/**
 * served path to SHA-256
 */
assets: {
[k: string]: string
}
}
model: {
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
parameters: number
/**
 * floating-point operations a step
 */
flops_per_step: number
}
/**
 * the order of the blocks
 */
plan: ("A" | "B")[]
/**
 * in the order they ran
 */
arms: Arm[]
analysis: Analysis
verdict: Verdict
/**
 * the whole run by phase
 */
phases_ms?: {
[k: string]: number
}
chain: {
/**
 * of the machine's previous receipt file; absent for its first
 */
previous_sha256?: string
/**
 * 0 for the machine's first
 */
sequence: number
}
/**
 * the server's, where one asked for the run
 */
nonce?: string
notes?: string[]
}
export interface Machine {
/**
 * fingerprint of the machine's signing key
 */
machine_id: string
hostname: string
os: string
os_version: string
architecture: string
cpu_model: string
logical_cores: number
memory_bytes: number
/**
 * such as Mac16,1
 */
model_identifier?: string
assay_version: string
/**
 * libraries and tools, with the versions used
 */
dependencies?: {
name: string
version: string
}[]
}
/**
 * before the first block
 */
export interface Environment {
taken_at: Utc
/**
 * ac or battery
 */
power_source?: string
battery_percent?: number
/**
 * nominal, fair, serious, critical
 */
thermal_state?: string
/**
 * hottest CPU sensor
 */
temperature_celsius?: number
load_average_1m?: number
memory_available_fraction?: number
/**
 * of the home's file system
 */
disk_free_gib?: number
/**
 * browser processes that are not the run's
 */
other_browsers?: number
uptime_seconds?: number
/**
 * wall clock less monotonic clock since the run began
 */
asleep_seconds?: number
cpu_frequency_mhz?: number
cpu_governor?: string
/**
 * the page's
 */
cross_origin_isolated?: boolean
/**
 * the page's
 */
visibility?: string
/**
 * smallest observed tick of the page's clock
 */
timer_quantum_us?: number
}
/**
 * as first seen
 */
export interface AdapterViews {
page?: PageAdapter
devtools?: DevtoolsAdapter
/**
 * rate of a small known product on the GPU, in GFLOP/s: a software adapter gives itself away
 */
probe_gflops?: number
}
/**
 * GPUAdapterInfo as the page saw it; absent when it saw none
 */
export interface PageAdapter {
vendor: string
architecture: string
device: string
description: string
/**
 * GPUAdapterInfo.isFallbackAdapter; absent where the engine does not say
 */
is_fallback?: boolean
subgroup_min_size?: number
subgroup_max_size?: number
features?: string[]
limits?: {
[k: string]: number
}
}
/**
 * SystemInfo.getInfo of the browser
 */
export interface DevtoolsAdapter {
devices: {
vendor_id: number
device_id: number
vendor: string
device: string
driver_vendor: string
driver_version: string
}[]
/**
 * what is on, by the browser's own words
 */
feature_status?: {
[k: string]: string
}
/**
 * renderer names and the like, as text
 */
aux_attributes?: {
[k: string]: string
}
driver_bug_workarounds?: string[]
/**
 * the machine's model, macOS only
 */
model_name?: string
model_version?: string
}
/**
 * one block: one arm's run in its own browser
 */
export interface Arm {
/**
 * the arm's name
 */
arm: string
block: ("A" | "B")
/**
 * counts from 0
 */
quadruple: number
/**
 * within the quadruple
 */
position: number
threads?: number
adapter_before?: AdapterViews1
adapter_after?: AdapterViews1
environment_before?: Environment1
environment_after?: Environment1
/**
 * samples of the warm-up, in no figure
 */
warmup: Step[]
/**
 * every timed step in order
 */
steps: Step[]
/**
 * sum of its parts
 */
cold_start_ms?: number
cold_start_parts_ms?: {
[k: string]: number
}
dispatches_per_step?: number
/**
 * how the arm waits for a step's end
 */
wait?: string
gpu_timestamp_quantum_ns?: number
/**
 * step time when steps are not waited for one by one
 */
pipelined_step_ms?: number
/**
 * median wall time of the timed steps
 */
median_step_ms?: number
/**
 * loss of the last timed step
 */
final_loss?: number
/**
 * what the arm chose: microkernel, tiles, subgroups
 */
variant?: {
[k: string]: (string | number | boolean)
}
weights_sha256?: Sha256
batches_sha256?: Sha256
corpus_sha256?: Sha256
/**
 * wall time by phase
 */
phases_ms?: {
[k: string]: number
}
/**
 * "code: message"; empty when all went well
 */
errors: string[]
/**
 * the last lines the page wrote
 */
console?: string[]
}
/**
 * two independent views of the GPU at one moment
 */
export interface AdapterViews1 {
page?: PageAdapter
devtools?: DevtoolsAdapter
/**
 * rate of a small known product on the GPU, in GFLOP/s: a software adapter gives itself away
 */
probe_gflops?: number
}
/**
 * one look at the environment; what could not be read is absent
 */
export interface Environment1 {
taken_at: Utc
/**
 * ac or battery
 */
power_source?: string
battery_percent?: number
/**
 * nominal, fair, serious, critical
 */
thermal_state?: string
/**
 * hottest CPU sensor
 */
temperature_celsius?: number
load_average_1m?: number
memory_available_fraction?: number
/**
 * of the home's file system
 */
disk_free_gib?: number
/**
 * browser processes that are not the run's
 */
other_browsers?: number
uptime_seconds?: number
/**
 * wall clock less monotonic clock since the run began
 */
asleep_seconds?: number
cpu_frequency_mhz?: number
cpu_governor?: string
/**
 * the page's
 */
cross_origin_isolated?: boolean
/**
 * the page's
 */
visibility?: string
/**
 * smallest observed tick of the page's clock
 */
timer_quantum_us?: number
}
export interface Step {
/**
 * from before the upload of the batch to the loss seen by the host, update included
 */
wall_ms: number
/**
 * mean cross-entropy in nats
 */
loss: number
/**
 * GPU time of the whole step, where the feature exists
 */
gpu_ms?: number
}
/**
 * every figure recomputed from the samples; absent where they do not allow it
 */
export interface Analysis {
/**
 * complete quadruples
 */
quadruples: number
/**
 * geometric mean of A's block medians
 */
a_median_ms?: number
/**
 * geometric mean of B's block medians
 */
b_median_ms?: number
/**
 * exp(mean d): A's time over B's
 */
speedup?: number
/**
 * 95 % interval of the speedup, from three quadruples on
 * 
 * @minItems 2
 * @maxItems 2
 */
interval95?: number[]
/**
 * largest relative difference of paired losses; 0.001 is 0.1 %
 */
max_loss_drift?: number
repeat_spread?: {
/**
 * largest |ln A1 - ln A2| over quadruples
 */
a?: number
/**
 * the same of B
 */
b?: number
}
/**
 * further figures by name, see docs/method.md
 */
details?: {
[k: string]: number
}
notes?: string[]
}
export interface Verdict {
result: ("verified" | "unqualified" | "refused" | "inconclusive" | "invalid" | "failed")
precision?: ("interval" | "spread")
reasons: {
/**
 * stable, for tools
 */
code: string
/**
 * one sentence
 */
message: string
/**
 * the numbers behind it
 */
facts?: {
[k: string]: string
}
}[]
}
