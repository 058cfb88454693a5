// The adapter and device of an arm: features and limits are asked for by name, and every failure becomes a typed error.

import { ArmError, type ArmErrorCode } from "../arm";
import type { WorkgroupLimits } from "./gemm_choice";

export interface DeviceNeeds {
  /** Bytes of the largest buffer and of the largest range bound as storage. */
  largest_buffer_bytes: number;
  workgroup: WorkgroupLimits;
  features: GPUFeatureName[];
  optional_features: GPUFeatureName[];
}

/** The most that the kernels here can use of a workgroup on this adapter. */
export function workgroupLimits(adapter: GPUAdapter): WorkgroupLimits {
  const { maxComputeWorkgroupStorageSize, maxComputeInvocationsPerWorkgroup, maxComputeWorkgroupSizeX } = adapter.limits;
  return {
    storage_bytes: Math.min(32768, maxComputeWorkgroupStorageSize),
    invocations: Math.min(512, maxComputeInvocationsPerWorkgroup, maxComputeWorkgroupSizeX),
  };
}

/** A device together with what went wrong on it so far; the first failure wins and is thrown at the next check. */
export class GpuDevice {
  private failure_: ArmError | undefined;
  private closed_ = false;

  private constructor(
    readonly adapter: GPUAdapter,
    readonly device: GPUDevice,
  ) {
    void device.lost.then((info) => {
      if (!this.closed_) this.fail("device-lost", `the GPU device was lost (${info.reason}): ${info.message}`);
    });
    device.addEventListener("uncapturederror", (event) => {
      event.preventDefault();
      this.failFrom(event.error);
    });
  }

  static async requestAdapter(): Promise<GPUAdapter> {
    const gpu = (globalThis.navigator as Navigator | undefined)?.gpu;
    if (gpu === undefined) {
      throw new ArmError("adapter-unavailable", "navigator.gpu does not exist here: a secure origin and an engine with WebGPU are needed");
    }
    const adapter = await gpu.requestAdapter({ powerPreference: "high-performance" });
    if (adapter === null) throw new ArmError("adapter-unavailable", "requestAdapter gave no adapter");
    return adapter;
  }

  static async open(adapter: GPUAdapter, needs: DeviceNeeds): Promise<GpuDevice> {
    const wanted: Record<string, number> = {
      maxBufferSize: needs.largest_buffer_bytes,
      maxStorageBufferBindingSize: needs.largest_buffer_bytes,
      maxComputeWorkgroupStorageSize: needs.workgroup.storage_bytes,
      maxStorageBuffersPerShaderStage: 8,
      maxComputeInvocationsPerWorkgroup: needs.workgroup.invocations,
      maxComputeWorkgroupSizeX: needs.workgroup.invocations,
    };
    for (const [name, value] of Object.entries(wanted)) {
      const limit = adapter.limits[name as keyof GPUSupportedLimits] as unknown as number;
      if (limit < value) {
        throw new ArmError("unsupported", `this model needs ${name} of ${value}, the adapter offers ${limit}`);
      }
    }
    for (const feature of needs.features) {
      if (!adapter.features.has(feature)) throw new ArmError("unsupported", `this arm needs the GPU feature ${feature}, which the adapter lacks`);
    }
    const features = [...needs.features, ...needs.optional_features.filter((name) => adapter.features.has(name))];
    try {
      return new GpuDevice(adapter, await adapter.requestDevice({ requiredFeatures: features, requiredLimits: wanted }));
    } catch (thrown) {
      throw new ArmError("adapter-unavailable", `requestDevice failed: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
    }
  }

  /** Runs `work` under all three error scopes. @throws ArmError with the text of what the GPU reported */
  async scoped<T>(what: string, work: () => T | Promise<T>): Promise<T> {
    const filters: GPUErrorFilter[] = ["validation", "internal", "out-of-memory"];
    for (const filter of filters) this.device.pushErrorScope(filter);
    let result: T;
    let thrown: unknown;
    try {
      result = await work();
    } catch (caught) {
      thrown = caught;
    }
    const errors = await Promise.all(filters.map(() => this.device.popErrorScope()));
    const error = errors.find((found) => found !== null);
    if (error) throw new ArmError(codeOf(error), `${what}: ${error.message}`);
    if (thrown !== undefined) throw thrown;
    this.check();
    return result!;
  }

  fail(code: ArmErrorCode, message: string): void {
    this.failure_ ??= new ArmError(code, message);
  }

  failFrom(error: GPUError): void {
    this.fail(codeOf(error), error.message);
  }

  /** @throws ArmError the first failure this device reported, if any */
  check(): void {
    if (this.failure_ !== undefined) throw this.failure_;
  }

  close(): void {
    this.closed_ = true;
    this.device.destroy();
  }
}

function codeOf(error: GPUError): ArmErrorCode {
  if (error instanceof GPUOutOfMemoryError) return "out-of-memory";
  return error instanceof GPUValidationError ? "gpu-validation" : "gpu-internal";
}
