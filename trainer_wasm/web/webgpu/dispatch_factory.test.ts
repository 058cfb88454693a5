// What the dispatches and pipelines of a plan are made with.

import { readFileSync } from "node:fs";
import { afterAll, describe, expect, it, vi } from "vitest";
import { DispatchFactory, type PlanOptions } from "./dispatch_factory";
import { KernelLibrary } from "./kernel_library";
import type { ModelBuffers } from "./model_buffers";

const shaders = new URL("../../../shaders/", import.meta.url);
vi.stubGlobal("GPUShaderStage", { COMPUTE: 4 });
vi.stubGlobal("fetch", (url: URL) => Promise.resolve(new Response(readFileSync(url))));
afterAll(() => vi.unstubAllGlobals());

function fakeDevice() {
  const pipelines: GPUComputePipelineDescriptor[] = [];
  const device = {
    createShaderModule: () => ({}),
    createBindGroupLayout: (descriptor: GPUBindGroupLayoutDescriptor) => descriptor,
    createPipelineLayout: (descriptor: GPUPipelineLayoutDescriptor) => descriptor,
    createBindGroup: (descriptor: GPUBindGroupDescriptor) => descriptor,
    createComputePipelineAsync: (descriptor: GPUComputePipelineDescriptor) => {
      pipelines.push(descriptor);
      return Promise.resolve({});
    },
  };
  return { pipelines, device: device as unknown as GPUDevice };
}

describe("a dispatch", () => {
  it.each([1, 65_535, 65_536, 131_071, 5_000_000])("of %i workgroups covers them all within 65,535 along each axis", async (workgroups) => {
    const { device } = fakeDevice();
    const options: PlanOptions = { subgroups: false, workgroup: { storage_bytes: 16_384, invocations: 256 }, naive: true };
    const factory = new DispatchFactory(device, await KernelLibrary.open(device, shaders), {} as ModelBuffers, options, false, false);
    const { x, y } = await factory.make("wide", "copy_parameters", { SIZE: 4 }, [], workgroups);
    expect(x).toBeLessThanOrEqual(65_535);
    expect(y).toBeLessThanOrEqual(65_535);
    expect(x * y).toBeGreaterThanOrEqual(workgroups);
  });
});

describe("every kernel that can have more workgroups than one axis holds", () => {
  const { kernels } = JSON.parse(readFileSync(new URL("kernels.json", shaders), "utf8")) as { kernels: Record<string, { file: string }> };
  // These have a bounded number: adamw's GROUPS and gradient_norm's at most 1,024 (model_buffers.ts, training_plan.ts).
  const bounded = new Set(["adamw", "gradient_norm", "gradient_norm_naive"]);
  it.each(Object.entries(kernels).filter(([name]) => !bounded.has(name)))("counts them over both axes and stops past the last: %s", (_, { file }) => {
    const source = readFileSync(new URL(file, shaders), "utf8");
    expect(source).toMatch(/workgroup\.x \+ workgroup\.y \* workgroups\.x/);
    expect(source).toMatch(/if \(.* >= .*\) \{ return; \}|if \(index < SIZE \/ 4u\) \{ rounded\[index\]/);
  });
});

describe("pipelines of one kernel", () => {
  it("share one explicit layout, with the access modes of kernels.json", async () => {
    const { device, pipelines } = fakeDevice();
    const library = await KernelLibrary.open(device, shaders);
    await library.pipeline("gemm_naive", { M: 1 });
    await library.pipeline("gemm_naive", { M: 2 });
    const layout = await library.bindGroupLayout("gemm_naive");
    expect(pipelines).toHaveLength(2);
    for (const { layout: of_pipeline } of pipelines) expect((of_pipeline as unknown as GPUPipelineLayoutDescriptor).bindGroupLayouts).toEqual([layout]);
    expect(pipelines[0]!.layout).toBe(pipelines[1]!.layout);
    const types = [...(layout as unknown as GPUBindGroupLayoutDescriptor).entries].map((entry) => entry.buffer!.type);
    expect(types).toEqual(library.describe("gemm_naive").bindings.map(({ access }) => (access === "read" ? "read-only-storage" : "storage")));
  });
});
