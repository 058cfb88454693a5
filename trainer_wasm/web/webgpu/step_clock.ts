// GPU time of each step, by timestamps at the begin of its first pass and the end of its last one.
//
// A step only writes its two timestamps, into places of its own; all are resolved and read after the last timed step, since
// resolving takes dispatches that would lengthen the steps being measured.

import type { GpuDevice } from "./gpu_device";
import { mapWhenDone, type PassTimestamps } from "./step_submission";

/** WebGPU's limit on the queries of one set. */
const queries_per_set = 4096;
const bytes_per_query = 8;
/** Empty passes that show how the clock advances. */
const calibration_passes = 256;

export class StepClock {
  private readonly sets_: GPUQuerySet[];

  /** @param gpu its device has the feature timestamp-query */
  constructor(
    private readonly gpu_: GpuDevice,
    private readonly steps_: number,
  ) {
    const queries = 2 * steps_;
    this.sets_ = Array.from({ length: Math.ceil(queries / queries_per_set) }, (_, index) =>
      gpu_.device.createQuerySet({ type: "timestamp", count: Math.min(queries_per_set, queries - index * queries_per_set) }),
    );
  }

  /** Where step `index` since the last reset writes its timestamps; undefined beyond the steps this clock was made for. */
  placeOf(index: number): PassTimestamps | undefined {
    if (index >= this.steps_) return undefined;
    const query = 2 * index;
    return { query_set: this.sets_[Math.floor(query / queries_per_set)]!, first: query % queries_per_set };
  }

  /** Milliseconds of each of the first `count` steps; undefined where the clock ran backwards in one of them. */
  async milliseconds(count: number): Promise<number[] | undefined> {
    const readings: bigint[] = [];
    for (let set = 0; readings.length < 2 * count; set += 1) {
      readings.push(...(await readQueries(this.gpu_, this.sets_[set]!, Math.min(queries_per_set, 2 * count - readings.length))));
    }
    const times = Array.from({ length: count }, (_, step) => Number(readings[2 * step + 1]! - readings[2 * step]!) / 1e6);
    return times.every((time) => time >= 0) ? times : undefined;
  }
}

/** Nanoseconds of the smallest advance of the GPU's clock that a row of empty passes shows; undefined when it stood still. */
export async function timestampQuantum(gpu: GpuDevice): Promise<number | undefined> {
  const query_set = gpu.device.createQuerySet({ type: "timestamp", count: 2 * calibration_passes });
  const encoder = gpu.device.createCommandEncoder();
  for (let pass = 0; pass < calibration_passes; pass += 1) {
    const timestampWrites = { querySet: query_set, beginningOfPassWriteIndex: 2 * pass, endOfPassWriteIndex: 2 * pass + 1 };
    encoder.beginComputePass({ timestampWrites }).end();
  }
  gpu.device.queue.submit([encoder.finish()]);
  const readings = await readQueries(gpu, query_set, 2 * calibration_passes);
  query_set.destroy();
  return smallestAdvance(readings);
}

/** The smallest difference between readings that differ. */
export function smallestAdvance(readings: readonly bigint[]): number | undefined {
  const sorted = [...new Set(readings)].sort((a, b) => (a < b ? -1 : 1));
  const advances = sorted.slice(1).map((reading, index) => Number(reading - sorted[index]!));
  return advances.length === 0 ? undefined : Math.min(...advances);
}

async function readQueries(gpu: GpuDevice, query_set: GPUQuerySet, count: number): Promise<bigint[]> {
  const size = bytes_per_query * count;
  const { device } = gpu;
  const [resolved, readback] = await gpu.scoped("creating the buffers of the GPU's timestamps", () => [
    device.createBuffer({ size, usage: GPUBufferUsage.QUERY_RESOLVE | GPUBufferUsage.COPY_SRC }),
    device.createBuffer({ size, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST }),
  ] as const);
  const encoder = device.createCommandEncoder();
  encoder.resolveQuerySet(query_set, 0, count, resolved, 0);
  encoder.copyBufferToBuffer(resolved, 0, readback, 0, size);
  device.queue.submit([encoder.finish()]);
  await mapWhenDone(gpu, readback, "map");
  const readings = Array.from(new BigUint64Array(readback.getMappedRange()));
  readback.destroy();
  resolved.destroy();
  return readings;
}
