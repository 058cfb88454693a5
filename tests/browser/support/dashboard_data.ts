// Data for the dashboard's tests: a lab of three machines, nothing at all, ten thousand receipts, hostile strings.

import type { VerdictResult } from "../../../orchestrator/dashboard/data/receipt";
import type { ReceiptSummary } from "../../../orchestrator/dashboard/data/source";
import type { FixtureData } from "./fixture_api";
import { machineId, makeReceipt, seededRandom } from "./receipt_fixture";

const hour_ms = 3_600_000;
const at = (hours_ago: number): string => new Date(Date.now() - hours_ago * hour_ms).toISOString();

export const nothing_yet: FixtureData = { receipts: [] };

/** Three machines, four presets with one gap, refused and failed runs, one of every other kind of thing. */
export function smallLab(): FixtureData {
  const speedups = { small: 2.6, medium: 6.8, large: 9.3, xl: 12.1 };
  const receipts = ["bench-01", "bench-02", "studio"].flatMap((machine, m) =>
    Object.entries(speedups)
      .filter(([preset]) => !(machine === "bench-02" && preset === "large"))
      .map(([preset, speedup], p) =>
        makeReceipt({
          id: `${machine}-${preset}`,
          machine,
          preset,
          speedup: speedup * (1 + m / 10),
          a_ms: 30 * 3 ** p,
          quadruples: m === 0 ? 3 : 1,
          created_at: at(m * 4 + p),
        }),
      ),
  );
  receipts.push(
    makeReceipt({ id: "refused", machine: "ci-vm", preset: "large", verdict: "refused", created_at: at(2) }),
    makeReceipt({ id: "failed", machine: "studio", preset: "medium", verdict: "failed", blocks: 3, created_at: at(30) }),
  );
  const trend_points = receipts
    .filter((receipt) => receipt.machine?.["hostname"] === "bench-01")
    .map((receipt, index) => ({
      receipt_id: receipt.id,
      created_at: at(24 * index),
      verdict: (index === 2 ? "failed" : "verified") as VerdictResult,
      ...(index === 2 ? {} : { speedup: 9 + index / 10 }),
    }));
  return {
    receipts,
    machines: [{ id: machineId("bench-01"), name: "bench-01", state: "idle", last_seen: at(0.1), labels: ["apple-m5"], facts: { os: "macOS", cpu_model: "Apple M5" } }],
    schedules: [
      { id: "s1", name: "nightly", cron: "0 2 * * *", time_zone: "Europe/Berlin", next_due: at(-5), last_fired: at(19), labels: ["apple-m5"] },
      { id: "s2", name: "weekly", cron: "0 4 * * 0", paused: true },
    ],
    runs: [
      { id: "run-1", state: "running", phase: "measuring", created_at: at(0.05), request: receipts[0]!.request },
      { id: "run-2", state: "done", created_at: at(3), receipt_id: receipts[1]!.id, request: receipts[1]!.request },
    ],
    events: [
      { event: "state", data: { run: "run-1", state: "running", phase: "measuring", arm: "wasm-simd-mt", arm_index: 0, arm_count: 4 } },
      { event: "steps", data: { run: "run-1", arm: "wasm-simd-mt", phase: "measure", arm_index: 0, arm_count: 4, first: 0, asked: 5, wall_ms: [180, 181, 179, 183, 185], loss: [5.5, 5.4, 5.2, 5, 4.8] } },
      { event: "steps", data: { run: "run-1", arm: "webgpu", phase: "measure", arm_index: 1, arm_count: 4, first: 0, asked: 5, wall_ms: [20, 21, 19], loss: [5.5, 5.4, 5.2] } },
      { event: "log", data: { run: "run-1", level: "info", message: "the second block began" } },
    ],
    trend: { points: trend_points, changes: [{ receipt_id: "bench-01-medium", created_at: at(24), size: -0.05, interval: [-0.07, -0.03] }] },
    comparison: {
      comparable: false,
      reasons: [{ code: "preset-differs", message: "One ran large, the other xl: the ratio grows with the size of the model." }],
      differences: [{ field: "/request/preset", a: "large", b: "xl", why: "Another amount of work a step.", blocks: true }],
    },
  };
}

/** Summaries alone, as many as a busy lab makes in years. */
export function tenThousand(): FixtureData {
  const random = seededRandom(7);
  const presets = ["small", "medium", "large", "xl"];
  const summaries = Array.from({ length: 10_000 }, (_, index): ReceiptSummary => {
    const machine = `machine-${index % 40}`;
    return {
      id: `receipt-${index}`,
      machine_id: machineId(machine),
      machine_name: machine,
      created_at: at(index / 10),
      preset: presets[index % presets.length]!,
      arm_a: "wasm-simd-mt",
      arm_b: "webgpu",
      verdict: random() > 0.02 ? "verified" : "inconclusive",
      evidence: "measured",
      speedup: 2 + 10 * random(),
      a_median_ms: 100 + 10 * random(),
      b_median_ms: 10 + random(),
      flops_per_step: 10 ** (9 + (index % presets.length) * 0.6),
      max_loss_drift: 1e-4,
    };
  });
  return { receipts: [], summaries };
}

const script = `<img src=x onerror="alert(1)"><script>alert(2)</script>"'\`\${alert(3)}`;

/** Every text that comes from outside is an attack, or far too long. */
export function hostile(): FixtureData {
  const long_name = "a-very-long-machine-name-".repeat(12);
  const receipt = makeReceipt({ id: "hostile", machine: script, label: `${script} ${long_name}` });
  receipt.machine!["cpu_model"] = script;
  receipt.browser!.switches = [script, "javascript:alert(4)"];
  receipt.verdict.reasons = [{ code: script, message: script }];
  receipt.arms![0]!.errors = [script];
  receipt.arms![0]!.console = [script, `</pre>${script}`];
  receipt.arms![0]!.arm = script;
  const long = makeReceipt({ id: "long", machine: long_name, preset: "small", label: long_name });
  return {
    receipts: [receipt, long],
    machines: [{ id: script, name: script, labels: [script], state: script, facts: { [script]: script } }],
    schedules: [{ id: script, name: script, cron: script, time_zone: script, labels: [script] }],
    runs: [{ id: "run-1", state: "running", created_at: at(1), label: script, error: script, request: receipt.request }],
    events: [{ event: "log", data: { level: script, message: script } }],
    trend: { points: [{ receipt_id: script, created_at: "not a date", verdict: script as VerdictResult, speedup: 1 }], changes: [{ receipt_id: script, created_at: at(1), size: 0.1, series: script }] },
    comparison: { comparable: false, reasons: [{ code: script, message: script }], differences: [{ field: script, a: script, b: { [script]: script }, why: script }] },
  };
}
