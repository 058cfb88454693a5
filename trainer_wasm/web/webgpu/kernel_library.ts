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

/**
 * A kernel's source with f16 in some of its buffers. Every WGSL file is valid for f32 as it stands and names the element of
 * such a buffer by an alias on a line of its own; loads convert by vec4f(), stores by the alias.
 * @throws ArmError internal where the file names no alias for a buffer
 */
export function halfSource(code: string, bindings: readonly string[]): string {
  let source = code;
  for (const name of bindings) {
    const line = `\nalias ${name}_vector = vec4f;\n`;
    if (source.split(line).length !== 2) throw new ArmError("internal", `the kernel has no half-precision form of its buffer ${name}`);
    source = source.replace(line, `\nalias ${name}_vector = vec4h;\n`);
  }
  return bindings.length === 0 ? code : `enable f16;\n${source}`;
}

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

  /**
   * The pipeline of a kernel with these constants; made once, however often it is asked for.
   * @param half names of its buffers that hold f16
   */
  pipeline(name: string, overrides: Overrides, half: readonly string[] = []): Promise<GPUComputePipeline> {
    const key = `${name} ${half.join()} ${JSON.stringify(Object.entries(overrides).sort())}`;
    let pipeline = this.pipelines_.get(key);
    if (pipeline === undefined) {
      pipeline = this.makePipeline(name, overrides, half);
      this.pipelines_.set(key, pipeline);
    }
    return pipeline;
  }

  private async makePipeline(name: string, overrides: Overrides, half: readonly string[]): Promise<GPUComputePipeline> {
    const kernel = await this.load(name, half);
    const constants = Object.fromEntries(Object.entries(overrides).map(([key, value]) => [key, Number(value)]));
    try {
      return await this.device_.createComputePipelineAsync({
        label: name,
        layout: kernel.pipeline_layout,
        compute: { module: kernel.module, entryPoint: "main", constants },
      });
    } catch (thrown) {
      const message = thrown instanceof Error ? thrown.message : String(thrown);
      throw new ArmError("gpu-validation", `the pipeline ${name}${half.length > 0 ? ` (f16: ${half.join(", ")})` : ""} with ${JSON.stringify(constants)} cannot be made: ${message}`);
    }
  }

  private load(name: string, half: readonly string[] = []): Promise<LoadedKernel> {
    const key = `${name} ${half.join()}`;
    let kernel = this.loaded_.get(key);
    if (kernel === undefined) {
      kernel = this.loadNow(name, half);
      this.loaded_.set(key, kernel);
    }
    return kernel;
  }

  private async loadNow(name: string, half: readonly string[]): Promise<LoadedKernel> {
    const description = this.describe(name);
    const code = halfSource(await (await fetched(new URL(description.file, this.folder_))).text(), half);
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
