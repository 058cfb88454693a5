// Measures candidate tiles on the device at hand. Used once, at preparation time; what it picks is then fixed and recorded.

import { tileName, tilesWithin, type GemmTile } from "./gemm_choice";
import type { GpuDevice } from "./gpu_device";
import type { KernelLibrary } from "./kernel_library";
import type { ModelBuffers, ModelPlan } from "./model_buffers";
import { encodeDispatches, mapWhenDone, type Wait } from "./step_submission";
import { makeTrainingPlan, type Dispatch, type PlanOptions } from "./training_plan";

/** Times dispatches by replaying them; the difference of two counts leaves out what a submission costs. */
export class DispatchTimer {
  private readonly source_: GPUBuffer;
  private readonly target_: GPUBuffer;

  constructor(
    private readonly gpu_: GpuDevice,
    private readonly wait_: Wait = "kept-awake",
  ) {
    this.source_ = gpu_.device.createBuffer({ size: 4, usage: GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST });
    this.target_ = gpu_.device.createBuffer({ size: 4, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });
  }

  /** Milliseconds from submission to read-back of all dispatches, `repeats` times over. */
  async total(dispatches: readonly Dispatch[], repeats: number): Promise<number> {
    const all = Array.from({ length: repeats }, () => dispatches).flat();
    const commands = encodeDispatches(this.gpu_.device, [all], undefined, (encoder) => {
      encoder.copyBufferToBuffer(this.source_, 0, this.target_, 0, 4);
    });
    const started = performance.now();
    this.gpu_.device.queue.submit(commands);
    await mapWhenDone(this.gpu_, this.target_, this.wait_);
    const taken = performance.now() - started;
    this.target_.unmap();
    return taken;
  }

  /** Microseconds of one dispatch: the least time of several of `many` replays, less the least of `few`. */
  async microseconds(dispatch: Dispatch, few = 20, many = 120, attempts = 4): Promise<number> {
    await this.total([dispatch], 2);
    let least_few = Number.POSITIVE_INFINITY;
    let least_many = Number.POSITIVE_INFINITY;
    for (let attempt = 0; attempt < attempts; attempt += 1) {
      least_few = Math.min(least_few, await this.total([dispatch], few));
      least_many = Math.min(least_many, await this.total([dispatch], many));
    }
    return (1000 * Math.max(0, least_many - least_few)) / (many - few);
  }

  dispose(): void {
    this.source_.destroy();
    this.target_.destroy();
  }
}

export interface TileMeasurement {
  product: string;
  tile: string;
  microseconds: number;
}

export interface TileTuning {
  chosen: Record<string, GemmTile>;
  measurements: TileMeasurement[];
}

/** Tries every tile on every matrix product of the model and keeps the fastest; the table's own choice wins ties within 3 %. */
export async function tuneTiles(
  gpu: GpuDevice,
  library: KernelLibrary,
  buffers: ModelBuffers,
  plan: ModelPlan,
  options: PlanOptions,
): Promise<TileTuning> {
  const default_plan = await makeTrainingPlan(gpu.device, library, buffers, plan, options);
  const products = Object.keys(default_plan.tiles);
  const measurements: TileMeasurement[] = [];
  const chosen: Record<string, GemmTile> = {};
  const best: Record<string, number> = {};
  const timer = new DispatchTimer(gpu);
  for (const tile of tilesWithin(options.workgroup)) {
    const forced = Object.fromEntries(products.map((name) => [name, tile]));
    const candidate = await makeTrainingPlan(gpu.device, library, buffers, plan, { ...options, tiles: forced });
    for (const product of products) {
      const dispatch = candidate.gradients.find(({ label }) => label === product || label === `${product} 0`)!;
      const microseconds = await timer.microseconds(dispatch);
      measurements.push({ product, tile: tileName(tile), microseconds });
      const handicap = tileName(tile) === default_plan.tiles[product] ? 0.97 : 1;
      if (microseconds * handicap < (best[product] ?? Number.POSITIVE_INFINITY)) {
        best[product] = microseconds * handicap;
        chosen[product] = tile;
      }
    }
  }
  timer.dispose();
  return { chosen, measurements };
}

