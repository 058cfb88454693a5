// The device against a GPU that fails on request: what is asked of it, and what becomes of each of its failures.

import { afterEach, describe, expect, it, vi } from "vitest";
import { GpuDevice, type DeviceNeeds } from "./gpu_device";
import { mapWhenDone } from "./step_submission";

class OutOfMemoryError {
  constructor(readonly message: string) {}
}
class ValidationError {
  constructor(readonly message: string) {}
}
vi.stubGlobal("GPUOutOfMemoryError", OutOfMemoryError);
vi.stubGlobal("GPUValidationError", ValidationError);
vi.stubGlobal("GPUMapMode", { READ: 1 });

const needs: DeviceNeeds = {
  largest_buffer_bytes: 300 * 1024 * 1024,
  workgroup: { storage_bytes: 32_768, invocations: 512 },
  features: [],
  optional_features: [],
};
const plenty = {
  maxBufferSize: 2 ** 31,
  maxStorageBufferBindingSize: 2 ** 31,
  maxComputeWorkgroupStorageSize: 65_536,
  maxStorageBuffersPerShaderStage: 10,
  maxComputeInvocationsPerWorkgroup: 1024,
  maxComputeWorkgroupSizeX: 1024,
};

/** An adapter whose device records what it was asked for and can be made to fail. */
function fakeGpu(limits: Record<string, number> = plenty) {
  const scopes: { filter: string; error: unknown }[] = [];
  const given = {
    asked: [] as GPUDeviceDescriptor[],
    lose: (_info: { reason: string; message: string }): void => {},
    uncaptured: (_event: { error: unknown; preventDefault(): void }): void => {},
    /** As a GPU that runs out while a scope of this kind is open. */
    report: (filter: string, error: unknown): void => {
      scopes.findLast((scope) => scope.filter === filter)!.error ??= error;
    },
  };
  const device = {
    lost: new Promise((resolve) => {
      given.lose = resolve;
    }),
    addEventListener: (_name: string, listener: typeof given.uncaptured) => {
      given.uncaptured = listener;
    },
    pushErrorScope: (filter: string) => scopes.push({ filter, error: null }),
    popErrorScope: () => Promise.resolve(scopes.pop()!.error),
    destroy: () => {},
  };
  const adapter = {
    limits,
    features: new Set<string>(),
    requestDevice: (descriptor: GPUDeviceDescriptor) => {
      given.asked.push(descriptor);
      return Promise.resolve(device);
    },
  } as unknown as GPUAdapter;
  return { given, adapter };
}

afterEach(() => {
  vi.stubGlobal("navigator", {});
});

describe("the adapter", () => {
  it("is asked for as the fast one, so that no integrated GPU stands in for the discrete one", async () => {
    const requestAdapter = vi.fn(() => Promise.resolve({}));
    vi.stubGlobal("navigator", { gpu: { requestAdapter } });
    await GpuDevice.requestAdapter();
    expect(requestAdapter.mock.calls).toEqual([[{ powerPreference: "high-performance" }]]);
  });

  it("that an engine does not give is told from an origin on which there is no WebGPU to ask", async () => {
    vi.stubGlobal("navigator", {});
    await expect(GpuDevice.requestAdapter()).rejects.toMatchObject({ code: "adapter-unavailable", message: expect.stringContaining("secure origin") });
    vi.stubGlobal("navigator", { gpu: { requestAdapter: () => Promise.resolve(null) } });
    await expect(GpuDevice.requestAdapter()).rejects.toMatchObject({ code: "adapter-unavailable", message: "requestAdapter gave no adapter" });
  });
});

describe("a device", () => {
  it("is asked for with the limits that the model needs, which lie over the default ones", async () => {
    const { given, adapter } = fakeGpu();
    await GpuDevice.open(adapter, needs);
    expect(given.asked).toHaveLength(1);
    expect(given.asked[0]!.requiredLimits).toMatchObject({
      maxBufferSize: needs.largest_buffer_bytes,
      maxStorageBufferBindingSize: needs.largest_buffer_bytes,
      maxComputeWorkgroupStorageSize: 32_768,
      maxComputeInvocationsPerWorkgroup: 512,
    });
  });

  it.each(Object.keys(plenty))("is not asked for where the adapter's %s is too small, and the limit is named", async (limit) => {
    const { given, adapter } = fakeGpu({ ...plenty, [limit]: 4 });
    await expect(GpuDevice.open(adapter, needs)).rejects.toMatchObject({ code: "unsupported", message: expect.stringContaining(limit) });
    expect(given.asked).toEqual([]);
  });

  it("that was lost ends whatever is done next as device-lost, with the engine's words", async () => {
    const { given, adapter } = fakeGpu();
    const gpu = await GpuDevice.open(adapter, needs);
    gpu.check();
    given.lose({ reason: "unknown", message: "the driver was reset" });
    await Promise.resolve();
    expect(() => gpu.check()).toThrow(expect.objectContaining({ code: "device-lost", message: expect.stringContaining("the driver was reset") }));
    await expect(gpu.scoped("another step", () => 1)).rejects.toMatchObject({ code: "device-lost" });
  });

  it("that was closed on purpose is not a lost one", async () => {
    const { given, adapter } = fakeGpu();
    const gpu = await GpuDevice.open(adapter, needs);
    gpu.close();
    given.lose({ reason: "destroyed", message: "" });
    await Promise.resolve();
    expect(() => gpu.check()).not.toThrow();
  });

  it("without memory for a buffer throws out-of-memory with what was being made, and logs nothing instead", async () => {
    const { given, adapter } = fakeGpu();
    const gpu = await GpuDevice.open(adapter, needs);
    const making = gpu.scoped("creating the buffers", () => given.report("out-of-memory", new OutOfMemoryError("no heap is left")));
    await expect(making).rejects.toMatchObject({ code: "out-of-memory", message: "creating the buffers: no heap is left" });
  });

  it("whose error no scope caught fails at the next check, under the error's kind", async () => {
    const { given, adapter } = fakeGpu();
    const gpu = await GpuDevice.open(adapter, needs);
    given.uncaptured({ error: new ValidationError("the range is not aligned"), preventDefault: () => {} });
    expect(() => gpu.check()).toThrow(expect.objectContaining({ code: "gpu-validation", message: "the range is not aligned" }));
  });
});

describe("a read-back in flight", () => {
  it.each(["map", "kept-awake"] as const)("of a device that is lost fails as device-lost, and no rejection is left to nobody (%s)", async (wait) => {
    const unhandled = vi.fn();
    process.on("unhandledRejection", unhandled);
    const { given, adapter } = fakeGpu();
    const gpu = await GpuDevice.open(adapter, needs);
    let reject: (cause: Error) => void = () => {};
    const buffer = { mapAsync: () => new Promise((_, refuse) => (reject = refuse)) } as unknown as GPUBuffer;
    const waiting = mapWhenDone(gpu, buffer, wait);
    // A fake's scopes are answered among the microtasks, so the loss must come from there too.
    await Promise.resolve();
    reject(new Error("the mapping was aborted"));
    given.lose({ reason: "unknown", message: "gone" });
    await expect(waiting).rejects.toMatchObject({ code: "device-lost" });
    await new Promise((resolve) => setTimeout(resolve, 10));
    process.off("unhandledRejection", unhandled);
    expect(unhandled).not.toHaveBeenCalled();
  });
});
