import { describe, expect, it } from "vitest";
import { batch_interval_ms, batch_max_steps, StepBatcher } from "./step_batcher";

describe("step batcher", () => {
  it("sends at most once an interval", () => {
    const batcher = new StepBatcher("measure", 0);
    batcher.add(1, { loss: 5 });
    expect(batcher.takeIfDue(batch_interval_ms - 1)).toBeNull();
    batcher.add(2, { loss: 4 });
    expect(batcher.takeIfDue(batch_interval_ms)).toEqual({ phase: "measure", first: 0, wall_ms: [1, 2], loss: [5, 4] });
    batcher.add(3, { loss: 3 });
    expect(batcher.takeIfDue(2 * batch_interval_ms - 1)).toBeNull();
    expect(batcher.take(2 * batch_interval_ms)).toEqual({ phase: "measure", first: 2, wall_ms: [3], loss: [3] });
  });

  it("has nothing to take when no step came", () => {
    expect(new StepBatcher("warmup", 0).take(1_000)).toBeNull();
  });

  it("leaves GPU times out unless every step of the batch has one", () => {
    const batcher = new StepBatcher("measure", 0);
    batcher.add(1, { loss: 5, gpu_ms: 0.5 });
    batcher.add(1, { loss: 5 });
    expect(batcher.take(1)).not.toHaveProperty("gpu_ms");
    batcher.add(1, { loss: 5, gpu_ms: 0.5 });
    expect(batcher.take(2)).toHaveProperty("gpu_ms", [0.5]);
  });

  it("never holds more steps than one event may carry", () => {
    const batcher = new StepBatcher("measure", 0);
    for (let index = 0; index < batch_max_steps; index += 1) batcher.add(0, { loss: 1 });
    expect(batcher.takeIfDue(0)?.loss).toHaveLength(batch_max_steps);
  });
});
