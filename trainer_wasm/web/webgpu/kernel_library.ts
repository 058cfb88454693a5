// The WGSL files and kernels.json, fetched from the served tree; layouts made from kernels.json, never "auto", so that one
// layout serves every pipeline of a kernel.

import { ArmError } from "../arm";

export interface KernelBinding {
  name: string;
  access: "read" | "read_write";
  element: string;
}

export interface KernelDescription {
  file: string;
  bindings: KernelBinding[];
  required_overrides: string[];
  features?: GPUFeatureName[];
}

export type Overrides = Record<string, number | boolean>;

interface LoadedKernel {
  module: GPUShaderModule;
  bind_group_layout: GPUBindGroupLayout;
  pipeline_layout: GPUPipelineLayout;
}

async function fetched(url: URL): Promise<Response> {
  const response = await fetch(url);
  if (!response.ok) throw new ArmError("internal", `${url.href} cannot be fetched: HTTP ${response.status}`);
  return response;
}

export class KernelLibrary {
  private readonly loaded_ = new Map<string, Promise<LoadedKernel>>();
  private readonly pipelines_ = new Map<string, Promise<GPUComputePipeline>>();

  private constructor(
    private readonly device_: GPUDevice,
    private readonly folder_: URL,
    readonly kernels: Record<string, KernelDescription>,
  ) {}

  /** @param folder address of shaders/, with a slash at its end */
  static async open(device: GPUDevice, folder: URL): Promise<KernelLibrary> {
    const index = (await (await fetched(new URL("kernels.json", folder))).json()) as {
      schema: string;
      kernels: Record<string, KernelDescription>;
    };
    if (index.schema !== "assay.kernels/1.0") throw new ArmError("internal", `kernels.json has the unknown schema ${index.schema}`);
    return new KernelLibrary(device, folder, index.kernels);
  }

  describe(name: string): KernelDescription {
    const kernel = this.kernels[name];
    if (kernel === undefined) throw new ArmError("internal", `kernels.json names no kernel ${name}`);
    return kernel;
  }

  async bindGroupLayout(name: string): Promise<GPUBindGroupLayout> {
    return (await this.load(name)).bind_group_layout;
  }

  /** The pipeline of a kernel with these constants; made once, however often it is asked for. */
  pipeline(name: string, overrides: Overrides): Promise<GPUComputePipeline> {
    const key = `${name} ${JSON.stringify(Object.entries(overrides).sort())}`;
    let pipeline = this.pipelines_.get(key);
    if (pipeline === undefined) {
      pipeline = this.makePipeline(name, overrides);
      this.pipelines_.set(key, pipeline);
    }
    return pipeline;
  }

  private async makePipeline(name: string, overrides: Overrides): Promise<GPUComputePipeline> {
    const kernel = await this.load(name);
    const constants = Object.fromEntries(Object.entries(overrides).map(([key, value]) => [key, Number(value)]));
    try {
      return await this.device_.createComputePipelineAsync({
        label: name,
        layout: kernel.pipeline_layout,
        compute: { module: kernel.module, entryPoint: "main", constants },
      });
    } catch (thrown) {
      const message = thrown instanceof Error ? thrown.message : String(thrown);
      throw new ArmError("gpu-validation", `the pipeline ${name} with ${JSON.stringify(constants)} cannot be made: ${message}`);
    }
  }

  private load(name: string): Promise<LoadedKernel> {
    let kernel = this.loaded_.get(name);
    if (kernel === undefined) {
      kernel = this.loadNow(name);
      this.loaded_.set(name, kernel);
    }
    return kernel;
  }

  private async loadNow(name: string): Promise<LoadedKernel> {
    const description = this.describe(name);
    const code = await (await fetched(new URL(description.file, this.folder_))).text();
    const module = this.device_.createShaderModule({ label: name, code });
    const bind_group_layout = this.device_.createBindGroupLayout({
      label: name,
      entries: description.bindings.map((binding, index) => ({
        binding: index,
        visibility: GPUShaderStage.COMPUTE,
        buffer: { type: binding.access === "read" ? "read-only-storage" : "storage" },
      })),
    });
    const pipeline_layout = this.device_.createPipelineLayout({ label: name, bindGroupLayouts: [bind_group_layout] });
    return { module, bind_group_layout, pipeline_layout };
  }
}
