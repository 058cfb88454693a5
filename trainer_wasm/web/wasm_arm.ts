// The WebAssembly arms: the trainer's own loop behind the Arm interface. A step is one synchronous call.

import { ArmError, type Arm, type ArmConfig, type Prepared, type StepResult } from "./arm";
import { loadCorpus } from "./corpus";
import { loadTrainer, TrainerError, trainerVariants, type TrainerModule, type TrainerVariant } from "./trainer_module";

export function isWasmArm(name: string): name is TrainerVariant {
  return name !== "inputs" && (trainerVariants as readonly string[]).includes(name);
}

export class WasmArm implements Arm {
  private trainer_: TrainerModule | undefined;

  /** @param base_url address of the folder that holds wasm/, with a slash at its end */
  constructor(private readonly base_url_: string) {}

  prepare(config: ArmConfig): Promise<Prepared> {
    return translated(async () => {
      if (!isWasmArm(config.arm)) throw new ArmError("unsupported", `this page has no arm named ${config.arm}`);
      const corpus = await loadCorpus(config.corpus, this.base_url_);
      const trainer = await loadTrainer({
        variant: config.arm,
        shape: config.model,
        threads: config.threads,
        seed: BigInt(config.seed),
        mode: "train",
        corpus: corpus ?? "builtin",
        baseUrl: new URL("wasm/", this.base_url_),
      });
      this.trainer_ = trainer;
      const repeats = config.options?.repeat_optimizer ?? 1;
      if (repeats !== 1) trainer.repeatOptimizer(repeats);
      return {
        threads: trainer.threads,
        weights_sha256: trainer.weightsSha256(),
        batches_sha256: trainer.batchesSha256(config.steps),
        corpus_sha256: trainer.corpusSha256(),
        parameters: trainer.parameterCount(),
        cold_start: { ...trainer.coldStart },
        wait: "synchronous call",
        variant: scalarFacts(trainer.buildFacts()),
      };
    });
  }

  step(): StepResult {
    try {
      return { loss: this.trainer().step() };
    } catch (thrown) {
      throw translate(thrown);
    }
  }

  reset(): void {
    try {
      this.trainer().reset();
    } catch (thrown) {
      throw translate(thrown);
    }
  }

  /** A synchronous arm has nothing in flight, so this is the mean of `count` steps without a message between them. */
  pipelined(count: number): Promise<{ step_ms: number; losses: number[] }> {
    return translated(() => {
      const trainer = this.trainer();
      const losses: number[] = [];
      const started = performance.now();
      for (let index = 0; index < count; index += 1) losses.push(trainer.step());
      return Promise.resolve({ step_ms: (performance.now() - started) / count, losses });
    });
  }

  readParameters(): Promise<Float32Array> {
    // A copy: the view is over shared memory, which cannot be transferred.
    return translated(() => Promise.resolve(Float32Array.from(this.trainer().parameters())));
  }

  readGradients(batch_index: number): Promise<{ loss: number; gradients: Float32Array }> {
    return translated(() => {
      const trainer = this.trainer();
      trainer.reset();
      const loss = trainer.gradientsOnly(batch_index);
      return Promise.resolve({ loss, gradients: Float32Array.from(trainer.gradients()) });
    });
  }

  dispose(): void {
    this.trainer_?.dispose();
    this.trainer_ = undefined;
  }

  private trainer(): TrainerModule {
    if (this.trainer_ === undefined) throw new ArmError("bad-config", "the arm was used before prepare or after dispose");
    return this.trainer_;
  }
}

async function translated<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    throw translate(thrown);
  }
}

/** The module's own failures become the codes that the orchestrator knows; anything else passes as it is. */
function translate(thrown: unknown): unknown {
  if (!(thrown instanceof TrainerError)) return thrown;
  if (thrown.outOfMemory) return new ArmError("out-of-memory", thrown.message);
  if (thrown.notFinite) return new ArmError("not-finite", thrown.message);
  const is_request_fault = thrown.status === -1 || thrown.status === -3;
  return new ArmError(is_request_fault ? "bad-config" : "internal", thrown.message);
}

/** The schema takes text, numbers and booleans; a nested value is kept as JSON text. */
function scalarFacts(facts: Record<string, unknown>): Record<string, string | number | boolean> {
  return Object.fromEntries(
    Object.entries(facts).map(([name, value]) => {
      const scalar = typeof value === "string" || typeof value === "number" || typeof value === "boolean";
      return [name, scalar ? value : JSON.stringify(value)];
    }),
  );
}
