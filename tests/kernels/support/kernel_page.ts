// What runs inside the browser for the kernel tests: one kernel on given arrays, or the whole arm on given inputs.

import type { ArmConfig } from "../../../trainer_wasm/web/arm";
import { GpuDevice, workgroupLimits } from "../../../trainer_wasm/web/webgpu/gpu_device";
import { KernelLibrary, type Overrides } from "../../../trainer_wasm/web/webgpu/kernel_library";
import { readFloats } from "../../../trainer_wasm/web/webgpu/step_submission";
import { WebGpuArm, type WebGpuTuning } from "../../../trainer_wasm/web/webgpu_arm";

export interface KernelRun {
  kernel: string;
  overrides: Overrides;
  /** One array a binding, in order; words where `words` names the binding. */
  bindings: number[][];
  words?: number[];
  workgroups: number;
  /** Bindings to read back. */
  read: number[];
}

/** Weights and batches for an arm under test. */
export interface GivenInputs {
  parameters: number[];
  batches: { tokens: number[]; targets: number[] }[];
}

let opened: Promise<{ gpu: GpuDevice; library: KernelLibrary }> | undefined;
let arm: WebGpuArm | undefined;

async function open() {
  const adapter = await GpuDevice.requestAdapter();
  const gpu = await GpuDevice.open(adapter, {
    largest_buffer_bytes: 64 * 1024 * 1024,
    workgroup: workgroupLimits(adapter),
    features: [],
    optional_features: ["subgroups" as GPUFeatureName],
  });
  return { gpu, library: await KernelLibrary.open(gpu.device, new URL("/shaders/", location.href)) };
}

const page = {
  async adapter() {
    const { gpu } = await (opened ??= open());
    const info = gpu.adapter.info as GPUAdapterInfo & { subgroupMinSize?: number; subgroupMaxSize?: number };
    return {
      vendor: info.vendor,
      subgroup_min_size: info.subgroupMinSize,
      subgroup_max_size: info.subgroupMaxSize,
      features: [...gpu.adapter.features],
      workgroup_storage_bytes: gpu.device.limits.maxComputeWorkgroupStorageSize,
    };
  },

  async run(request: KernelRun): Promise<number[][]> {
    const { gpu, library } = await (opened ??= open());
    return gpu.scoped(request.kernel, async () => {
      const pipeline = await library.pipeline(request.kernel, request.overrides);
      const layout = await library.bindGroupLayout(request.kernel);
      const buffers = request.bindings.map((content, index) => {
        const data = request.words?.includes(index) ? Uint32Array.from(content) : Float32Array.from(content);
        const buffer = gpu.device.createBuffer({
          size: Math.max(16, data.byteLength),
          usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST,
        });
        gpu.device.queue.writeBuffer(buffer, 0, data);
        return buffer;
      });
      const bind_group = gpu.device.createBindGroup({
        layout,
        entries: buffers.map((buffer, binding) => ({ binding, resource: { buffer } })),
      });
      const encoder = gpu.device.createCommandEncoder();
      const pass = encoder.beginComputePass();
      pass.setPipeline(pipeline);
      pass.setBindGroup(0, bind_group);
      const x = Math.min(request.workgroups, 65535);
      pass.dispatchWorkgroups(x, Math.ceil(request.workgroups / x));
      pass.end();
      gpu.device.queue.submit([encoder.finish()]);
      const results: number[][] = [];
      for (const index of request.read) {
        results.push(Array.from(await readFloats(gpu, buffers[index]!, request.bindings[index]!.length)));
      }
      for (const buffer of buffers) buffer.destroy();
      return results;
    });
  },

  async prepareArm(config: ArmConfig, inputs: GivenInputs, tuning: Omit<WebGpuTuning, "inputs"> = {}) {
    arm?.dispose();
    const parameters = Float32Array.from(inputs.parameters);
    arm = new WebGpuArm(new URL("/", location.href).href, {
      ...tuning,
      inputs: () =>
        Promise.resolve({
          parameters: () => parameters,
          parameterCount: () => parameters.length,
          batch: (index: number) => {
            const { tokens, targets } = inputs.batches[index % inputs.batches.length]!;
            return { tokens: Int32Array.from(tokens), targets: Int32Array.from(targets) };
          },
          weightsSha256: () => "",
          batchesSha256: () => "",
          corpusSha256: () => "",
          dispose: () => {},
        }),
    });
    return arm.prepare(config);
  },

  async steps(count: number): Promise<{ losses: number[]; milliseconds: number[] }> {
    const losses: number[] = [];
    const milliseconds: number[] = [];
    for (let index = 0; index < count; index += 1) {
      const started = performance.now();
      losses.push((await arm!.step()).loss);
      milliseconds.push(performance.now() - started);
    }
    return { losses, milliseconds };
  },

  reset: () => arm!.reset(),
  gpuTimes: (count: number) => arm!.gpuTimes(count),
  pipelined: (count: number) => arm!.pipelined(count),
  async gradients(batch_index: number) {
    const { loss, gradients } = await arm!.readGradients(batch_index);
    return { loss, gradients: Array.from(gradients) };
  },
  async parameters() {
    return Array.from(await arm!.readParameters());
  },
};

export type KernelPage = typeof page;
(globalThis as unknown as { kernels: KernelPage }).kernels = page;
