import { describe, expect, it } from "vitest";
import { ArmError, type Arm, type ArmConfig, type Prepared, type StepResult } from "./arm";
import { ArmDriver } from "./arm_driver";
import type { StepBatch } from "./arm_events";

const config: ArmConfig = {
  schema: "assay.arm-config/1.0",
  arm: "wasm-simd-mt",
  model: { layers: 1, d_model: 32, ctx: 16, batch: 2, heads: 2 },
  steps: 4,
  warmup: 2,
  seed: "42",
  threads: 1,
  corpus: { name: "builtin" },
};

const prepared: Prepared = {
  threads: 1,
  weights_sha256: "0".repeat(64),
  batches_sha256: "0".repeat(64),
  corpus_sha256: "0".repeat(64),
  parameters: 1,
  cold_start: {},
  wait: "synchronous",
  variant: {},
};

/** An arm whose n-th step since the last reset takes 10 + n ms of the fake clock and has loss 5 - n. */
class FakeArm implements Arm {
  now_ms = 0;
  step_index = 0;
  calls: string[] = [];
  loss_at = (index: number): number => 5 - index;

  prepare(): Promise<Prepared> {
    this.calls.push("prepare");
    return Promise.resolve(prepared);
  }
  step(): StepResult | Promise<StepResult> {
    this.calls.push("step");
    this.now_ms += 10 + this.step_index;
    const loss = this.loss_at(this.step_index);
    this.step_index += 1;
    return { loss };
  }
  reset(): void {
    this.calls.push("reset");
    this.step_index = 0;
  }
  dispose(): void {}
}

function makeDriver(arm: FakeArm, aborted: () => boolean = () => false): { driver: ArmDriver; batches: StepBatch[] } {
  const batches: StepBatch[] = [];
  const driver = new ArmDriver(arm, {
    now: () => arm.now_ms,
    sendSteps: (batch) => {
      // Sending costs a whole second here, which must not appear in any step.
      arm.now_ms += 1_000;
      batches.push(batch);
    },
    abortRequested: aborted,
  });
  return { driver, batches };
}

describe("arm driver", () => {
  it("resets after warm-up, so that timed step 1 is training step 1", async () => {
    const arm = new FakeArm();
    const { driver, batches } = makeDriver(arm);
    await driver.prepare(config);
    await driver.warmup();
    await driver.measure();
    expect(arm.calls).toEqual(["prepare", "step", "step", "reset", "step", "step", "step", "step"]);
    expect(batches.filter((batch) => batch.phase === "measure").flatMap((batch) => batch.loss)).toEqual([5, 4, 3, 2]);
  });

  it("gives the same timed losses whatever the number of warm-up steps", async () => {
    const losses = async (warmup: number): Promise<number[]> => {
      const { driver, batches } = makeDriver(new FakeArm());
      await driver.prepare({ ...config, warmup });
      await driver.warmup();
      await driver.measure();
      return batches.filter((batch) => batch.phase === "measure").flatMap((batch) => batch.loss);
    };
    expect(await losses(0)).toEqual(await losses(7));
  });

  it("keeps the cost of sending outside every step's clock", async () => {
    const { driver, batches } = makeDriver(new FakeArm());
    await driver.prepare({ ...config, steps: 60, warmup: 0 });
    await driver.measure();
    expect(batches.length).toBeGreaterThan(1);
    const wall_ms = batches.flatMap((batch) => batch.wall_ms);
    expect(wall_ms).toEqual(Array.from({ length: 60 }, (_, index) => 10 + index));
  });

  it("waits for an asynchronous step within the clock", async () => {
    const arm = new FakeArm();
    arm.step = () =>
      Promise.resolve().then(() => {
        arm.now_ms += 33;
        return { loss: 1, gpu_ms: 7 };
      });
    const { driver, batches } = makeDriver(arm);
    await driver.prepare({ ...config, steps: 1 });
    await driver.measure();
    expect(batches).toEqual([{ phase: "measure", first: 0, wall_ms: [33], loss: [1], gpu_ms: [7] }]);
  });

  it("ends on a loss that is not finite and still sends the steps before it", async () => {
    const arm = new FakeArm();
    arm.loss_at = (index) => (index === 2 ? Number.NaN : 1);
    const { driver, batches } = makeDriver(arm);
    await driver.prepare(config);
    await expect(driver.measure()).rejects.toMatchObject({ code: "not-finite", message: "the loss of measure step 3 is NaN" });
    expect(batches.flatMap((batch) => batch.loss)).toEqual([1, 1]);
  });

  it("stops between two steps when the host aborts", async () => {
    const arm = new FakeArm();
    const { driver, batches } = makeDriver(arm, () => arm.step_index >= 3);
    await driver.prepare(config);
    await expect(driver.measure()).rejects.toMatchObject({ code: "aborted" });
    expect(batches.flatMap((batch) => batch.loss)).toHaveLength(3);
  });

  it("refuses to run before prepare and to prepare twice", async () => {
    const { driver } = makeDriver(new FakeArm());
    await expect(driver.measure()).rejects.toBeInstanceOf(ArmError);
    await driver.prepare(config);
    await expect(driver.prepare(config)).rejects.toMatchObject({ code: "bad-config" });
  });

  it("goes on where the last slice ended, from one reset, whatever the size of a slice", async () => {
    for (const slice_steps of [1, 2, 3, 4, 9]) {
      const arm = new FakeArm();
      const { driver, batches } = makeDriver(arm);
      await driver.prepare({ ...config, slice_steps });
      await driver.warmup();
      const counts: number[] = [];
      while (counts.reduce((sum, count) => sum + count, 0) < config.steps) counts.push((await driver.measure()).steps);
      expect(counts).toEqual({ 1: [1, 1, 1, 1], 2: [2, 2], 3: [3, 1], 4: [4], 9: [4] }[slice_steps]);
      expect(batches.filter((batch) => batch.phase === "measure").flatMap((batch) => batch.loss)).toEqual([5, 4, 3, 2]);
      expect(arm.calls.filter((call) => call === "reset")).toHaveLength(1);
    }
  });

  it("asks for GPU times and throughput with the last slice alone", async () => {
    const arm = new FakeArm() as FakeArm & Arm;
    arm.gpuTimes = (count) => Promise.resolve(Array.from({ length: count }, () => 1));
    arm.pipelined = () => Promise.resolve({ step_ms: 3.5, losses: [] });
    const { driver } = makeDriver(arm);
    await driver.prepare({ ...config, slice_steps: 3, pipelined_steps: 2 });
    expect(await driver.measure()).toEqual({ phase: "measure", steps: 3 });
    expect(await driver.measure()).toEqual({ phase: "measure", steps: 1, gpu_ms: [1, 1, 1, 1], pipelined_step_ms: 3.5 });
  });

  it("asks for the GPU times of the timed steps after the last one and before any pipelined step", async () => {
    const arm = new FakeArm() as FakeArm & Arm;
    arm.gpuTimes = (count) => {
      arm.calls.push(`gpuTimes ${count}`);
      return Promise.resolve(Array.from({ length: count }, (_, index) => index / 2));
    };
    arm.pipelined = () => {
      arm.calls.push("pipelined");
      return Promise.resolve({ step_ms: 3.5, losses: [] });
    };
    const { driver } = makeDriver(arm);
    await driver.prepare({ ...config, pipelined_steps: 2 });
    expect(await driver.measure()).toEqual({ phase: "measure", steps: 4, gpu_ms: [0, 0.5, 1, 1.5], pipelined_step_ms: 3.5 });
    expect(arm.calls.slice(-2)).toEqual(["gpuTimes 4", "pipelined"]);
  });

  it("measures pipelined throughput after the timed steps, only where asked for", async () => {
    const arm = new FakeArm() as FakeArm & Arm;
    arm.pipelined = (count) => {
      arm.calls.push(`pipelined ${count}`);
      return Promise.resolve({ step_ms: 3.5, losses: [1, 2] });
    };
    const { driver } = makeDriver(arm);
    await driver.prepare({ ...config, pipelined_steps: 2 });
    expect(await driver.measure()).toEqual({ phase: "measure", steps: 4, pipelined_step_ms: 3.5 });
    expect(arm.calls.at(-1)).toBe("pipelined 2");
    const plain = makeDriver(new FakeArm());
    await plain.driver.prepare(config);
    expect(await plain.driver.measure()).toEqual({ phase: "measure", steps: 4 });
  });
});
