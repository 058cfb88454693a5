// Turns the static plan into command buffers, one step ahead, and waits for their results.

import { ArmError } from "../arm";
import type { GpuDevice } from "./gpu_device";
import type { Dispatch } from "./training_plan";

/** Work handed over in one submission at most, so that none nears a watchdog: 0.2 TFLOP is a second on a slow GPU. */
const flops_per_submission = 2e11;

/** Consecutive dispatches in groups of bounded work. */
export function splitByWork(dispatches: readonly Dispatch[], limit = flops_per_submission): Dispatch[][] {
  const groups: Dispatch[][] = [[]];
  let work = 0;
  for (const dispatch of dispatches) {
    if (work > 0 && work + dispatch.flops > limit) {
      groups.push([]);
      work = 0;
    }
    groups[groups.length - 1]!.push(dispatch);
    work += dispatch.flops;
  }
  return groups;
}

/** Where the timestamps of the first pass's begin and of the last one's end go: query `first` and the one after it. */
export interface PassTimestamps {
  query_set: GPUQuerySet;
  first: number;
}

/** Records the dispatches and what `after` adds to the last encoder. */
export function encodeDispatches(
  device: GPUDevice,
  groups: readonly Dispatch[][],
  timestamps: PassTimestamps | undefined,
  after: (encoder: GPUCommandEncoder) => void,
): GPUCommandBuffer[] {
  return groups.map((group, index) => {
    const is_first = index === 0;
    const is_last = index === groups.length - 1;
    const encoder = device.createCommandEncoder();
    const descriptor: GPUComputePassDescriptor = {};
    if (timestamps !== undefined && (is_first || is_last)) {
      descriptor.timestampWrites = {
        querySet: timestamps.query_set,
        ...(is_first ? { beginningOfPassWriteIndex: timestamps.first } : {}),
        ...(is_last ? { endOfPassWriteIndex: timestamps.first + 1 } : {}),
      };
    }
    const pass = encoder.beginComputePass(descriptor);
    let pipeline: GPUComputePipeline | undefined;
    for (const dispatch of group) {
      if (dispatch.pipeline !== pipeline) {
        pass.setPipeline(dispatch.pipeline);
        pipeline = dispatch.pipeline;
      }
      pass.setBindGroup(0, dispatch.bind_group);
      pass.dispatchWorkgroups(dispatch.x, dispatch.y);
    }
    pass.end();
    if (is_last) after(encoder);
    return encoder.finish();
  });
}

export type Wait = "map" | "kept-awake";

export const wait_in_words: Record<Wait, string> = {
  map: "mapAsync of a read-back encoded after the update",
  "kept-awake": "mapAsync of a read-back encoded after the update, the GPU process kept awake by error scopes",
};

/**
 * Maps a buffer for reading and resolves when its contents are there.
 *
 * Chromium's GPU process looks for finished work only every few milliseconds while nothing arrives; "kept-awake" sends it
 * empty error scopes meanwhile, and each makes it look.
 * @throws ArmError device-lost or whatever the device reported
 */
export async function mapWhenDone(gpu: GpuDevice, buffer: GPUBuffer, wait: Wait): Promise<void> {
  let done = false;
  let rejected: unknown;
  const mapping = buffer.mapAsync(GPUMapMode.READ).then(
    () => {
      done = true;
    },
    (thrown: unknown) => {
      done = true;
      rejected = thrown;
    },
  );
  if (wait === "kept-awake") {
    while (!done) {
      gpu.device.pushErrorScope("validation");
      const error = await gpu.device.popErrorScope().catch(() => null);
      if (error !== null) gpu.failFrom(error);
    }
  }
  await mapping;
  if (rejected !== undefined) {
    // The reason of a loss arrives on its own promise, a moment later.
    await new Promise((resolve) => setTimeout(resolve, 0));
    gpu.check();
    throw new ArmError("gpu-internal", `the read-back of a step failed: ${rejected instanceof Error ? rejected.message : String(rejected)}`);
  }
  gpu.check();
}

/** Reads a range of a GPU buffer (floats) in pieces, outside any clock. */
export async function readFloats(gpu: GpuDevice, source: GPUBuffer, count: number, offset = 0): Promise<Float32Array> {
  const piece = 16 * 1024 * 1024;
  const result = new Float32Array(count);
  const staging = await gpu.scoped("creating a read-back buffer", () =>
    gpu.device.createBuffer({ size: 4 * Math.min(piece, count), usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST }),
  );
  for (let done = 0; done < count; done += piece) {
    const size = Math.min(piece, count - done);
    const encoder = gpu.device.createCommandEncoder();
    encoder.copyBufferToBuffer(source, 4 * (offset + done), staging, 0, 4 * size);
    gpu.device.queue.submit([encoder.finish()]);
    await mapWhenDone(gpu, staging, "map");
    result.set(new Float32Array(staging.getMappedRange(0, 4 * size)), done);
    staging.unmap();
  }
  staging.destroy();
  return result;
}
