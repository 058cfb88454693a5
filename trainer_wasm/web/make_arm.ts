// Which class hosts which arm. Each is loaded only when asked for, so that a WebAssembly arm never parses GPU code.

import { ArmError, type Arm, type ArmConfig } from "./arm";

/** @throws ArmError unsupported for a name that no page can host. */
export async function makeArm(config: ArmConfig, base_url: string): Promise<Arm> {
  if (config.arm.startsWith("wasm")) {
    const { WasmArm } = await import("./wasm_arm");
    return new WasmArm(base_url);
  }
  if (config.arm === "webgpu" || config.arm === "webgpu-f16") {
    const { WebGpuArm } = await import("./webgpu_arm");
    return new WebGpuArm(base_url);
  }
  throw new ArmError("unsupported", `this page has no arm named ${config.arm}`);
}
