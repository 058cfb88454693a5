// Receipts for the dashboard's tests: constructed, seeded, analysed and sealed as the real ones are.

import { createHash, createPrivateKey, createPublicKey, sign } from "node:crypto";
import type { ArmRecord, Evidence, Receipt, StepSample, VerdictResult } from "../../../orchestrator/dashboard/data/receipt";
import type { ModelShape } from "../../../trainer_wasm/web/arm";
import { presets } from "../../../trainer_wasm/web/presets";
import type { ReceiptSummary } from "../../../orchestrator/dashboard/data/source";
import { canonicalJson } from "../../../orchestrator/dashboard/verify/canonical_json";
import { preAuthenticationEncoding } from "../../../orchestrator/dashboard/verify/envelope";
import { makePlan } from "../../../orchestrator/dashboard/verify/plan";
import { blockMedian, recompute } from "../../../orchestrator/dashboard/verify/recompute";
import { judge } from "../../../orchestrator/dashboard/verify/verdict";

export interface FixtureOptions {
  id: string;
  machine?: string;
  preset?: string;
  verdict?: VerdictResult;
  evidence?: Evidence;
  steps?: number;
  quadruples?: number;
  a_ms?: number;
  speedup?: number;
  created_at?: string;
  label?: string;
  arms?: [string, string];
  /** Blocks that ran; fewer than the plan for a run that broke off. */
  blocks?: number;
  seed?: number;
}

const vocabulary = 256;

function parametersOf({ layers, d_model, ctx }: ModelShape): number {
  return (vocabulary + ctx) * d_model + layers * (12 * d_model ** 2 + 13 * d_model) + 2 * d_model;
}

function flopsOf({ layers, d_model, ctx, batch }: ModelShape): number {
  const tokens = batch * ctx;
  return 6 * tokens * (12 * layers * d_model ** 2 + vocabulary * d_model) + 6 * layers * tokens * d_model * (ctx + 1);
}

/** Numbers in [0, 1) that are the same in every run (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

const digest = (text: string): string => createHash("sha256").update(text).digest("hex");

export function machineId(name: string): string {
  return digest(`machine ${name}`).slice(0, 16);
}

export function makeReceipt(options: FixtureOptions): Receipt {
  const preset = options.preset ?? "large";
  const shape = presets[preset] ?? presets["large"]!;
  const machine = options.machine ?? "bench-01";
  const arms = options.arms ?? (["wasm-simd-mt", "webgpu"] as [string, string]);
  const quadruples = options.quadruples ?? 1;
  const steps = options.steps ?? 20;
  const verdict = options.verdict ?? "verified";
  const random = seededRandom(options.seed ?? parseInt(digest(options.id).slice(0, 8), 16));
  const plan = makePlan(quadruples, 42n, true);
  const ran = verdict === "refused" ? 0 : (options.blocks ?? plan.length);
  const a_ms = options.a_ms ?? 180;
  const b_ms = a_ms / (options.speedup ?? 9.3);

  const page = { vendor: "apple", architecture: "metal-3", device: "", description: "Apple M5", is_fallback: false, features: ["shader-f16", "subgroups"], limits: { maxBufferSize: 4294967296 } };
  const adapter = { page, devtools: { devices: [{ vendor_id: 4203, device_id: 0, vendor: "Apple", device: "M5", driver_vendor: "", driver_version: "" }], aux_attributes: { glRenderer: "ANGLE (Apple, ANGLE Metal Renderer: Apple M5)" }, feature_status: { webgpu: "enabled" } } };
  const environment = { taken_at: "2026-11-30T02:00:00Z", power_source: "ac", thermal_state: "nominal", load_average_1m: 0.4, timer_quantum_us: 5, cross_origin_isolated: true, visibility: "visible" };

  const records: ArmRecord[] = plan.slice(0, ran).map((block, index) => {
    const base = (block === "A" ? a_ms : b_ms) * (1 + 0.01 * index * random());
    const sample = (step: number): StepSample => ({
      wall_ms: base * (1 + 0.04 * random() + (random() > 0.95 ? 0.3 : 0)),
      loss: 2.4 + 3.14 * Math.exp(-step / 9) + (block === "B" ? 2e-5 * step : 0),
    });
    const record: ArmRecord = {
      arm: block === "A" ? arms[0] : arms[1],
      block,
      quadruple: index >> 2,
      position: index % 4,
      threads: block === "A" ? 8 : 1,
      adapter_before: adapter,
      adapter_after: adapter,
      warmup: [0, 1, 2].map(sample),
      steps: Array.from({ length: steps }, (_, step) => sample(step)),
      cold_start_ms: 300 + 50 * random(),
      errors: [],
      weights_sha256: digest("weights"),
      batches_sha256: digest("batches"),
      corpus_sha256: digest("corpus"),
      wait: block === "A" ? "synchronous call" : "map",
    };
    record.median_step_ms = blockMedian(record)!;
    record.final_loss = record.steps!.at(-1)!.loss;
    return record;
  });

  const receipt: Receipt = {
    schema: "assay.receipt/1.0",
    id: options.id,
    run_id: `run-${options.id}`,
    created_at: options.created_at ?? "2026-11-30T02:00:00Z",
    evidence: options.evidence ?? "measured",
    request: { preset: preset as NonNullable<Receipt["request"]["preset"]>, steps, warmup: 3, arms, quadruples, seed: 42, policy: "apple-metal-3", corpus: "builtin", threads: 8, ...(options.label === undefined ? {} : { label: options.label }) },
    machine: { machine_id: machineId(machine), hostname: machine, os: "macOS", os_version: "26.1", architecture: "arm64", cpu_model: "Apple M5", logical_cores: 10, memory_bytes: 34359738368, assay_version: "0.1.0" },
    browser: { product: "Chrome/156.0.8078.114", switches: ["--headless=new", "--user-data-dir=<profile>"] },
    environment,
    adapter,
    inputs: { weights_sha256: digest("weights"), batches_sha256: digest("batches"), corpus_sha256: digest("corpus"), assets: { "/arm/index.html": digest("page") } },
    model: { ...shape, parameters: parametersOf(shape), flops_per_step: flopsOf(shape) },
    plan,
    arms: records,
    verdict: { result: verdict, ...(quadruples >= 3 ? { precision: "interval" as const } : { precision: "spread" as const }), reasons: reasonsFor(verdict) },
    chain: { sequence: 0 },
  };
  const analysis = recompute(receipt);
  receipt.analysis = analysis;
  // What the samples give; the other verdicts are what a test says they are.
  if (verdict === "verified") receipt.verdict = judge(receipt, analysis);
  return receipt;
}

function reasonsFor(verdict: VerdictResult): { code: string; message: string }[] {
  const sentences: Partial<Record<VerdictResult, [string, string]>> = {
    unqualified: ["software-adapter", "The adapter is SwiftShader, a software renderer, so this says nothing about the hardware."],
    refused: ["adapter-absent", "The page got no adapter at all; the policy asks for apple metal-3."],
    inconclusive: ["spread-too-wide", "The repeats of A differ by 18 %, more than the 10 % allowed."],
    invalid: ["loss-drift", "The losses drift apart by 7.1 %, over the budget of 5 %."],
    failed: ["crashed", "Chrome ended with signal 9 while the third block was measured."],
  };
  const [code, message] = sentences[verdict] ?? [];
  return code === undefined || message === undefined ? [] : [{ code, message }];
}

/** A fixed seed, so that a fixture's file is the same in every run. Signs nothing but fixtures. */
const fixture_key = createPrivateKey({
  key: Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), createHash("sha256").update("fixture key").digest()]),
  format: "der",
  type: "pkcs8",
});
const public_bytes = createPublicKey(fixture_key).export({ format: "der", type: "spki" }).subarray(-32);

/** The signed file of a receipt, as docs/receipt.md lays it out. */
export function sealFixture(receipt: Receipt): string {
  const inner = canonicalJson(receipt);
  const payload = Buffer.from(
    canonicalJson({
      _type: "https://in-toto.io/Statement/v1",
      predicate: receipt,
      predicateType: "urn:assay:receipt:1",
      subject: [{ name: receipt.id, digest: { sha256: digest(inner) } }],
    }),
  );
  const type = "application/vnd.in-toto+json";
  return canonicalJson({
    payload: payload.toString("base64"),
    payloadType: type,
    signatures: [
      {
        keyid: createHash("sha256").update(public_bytes).digest("hex"),
        public_key: Buffer.from(public_bytes).toString("base64"),
        sig: sign(null, preAuthenticationEncoding(type, payload), fixture_key).toString("base64"),
      },
    ],
  });
}

export function summaryOf(receipt: Receipt): ReceiptSummary {
  const { analysis, request, verdict } = receipt;
  const summary: Record<string, unknown> = {
    id: receipt.id,
    run_id: receipt.run_id,
    // As the server has it: a text, empty where the receipt names no machine.
    machine_id: receipt.machine?.["machine_id"] ?? "",
    machine_name: receipt.machine?.["hostname"],
    created_at: receipt.created_at,
    preset: request.preset,
    arm_a: request.arms[0],
    arm_b: request.arms[1],
    verdict: verdict.result,
    evidence: receipt.evidence,
    policy: request.policy,
    precision: verdict.precision,
    speedup: analysis?.speedup,
    interval95: analysis?.interval95,
    a_median_ms: analysis?.a_median_ms,
    b_median_ms: analysis?.b_median_ms,
    max_loss_drift: analysis?.max_loss_drift,
    flops_per_step: receipt.model?.flops_per_step,
    label: request.label,
    browser: receipt.browser?.product,
    first_reason: verdict.reasons?.[0]?.message,
  };
  return JSON.parse(JSON.stringify(summary)) as ReceiptSummary;
}
