// Which WebAssembly features the engine has, by asking it to validate the smallest module that uses each.

/** The eight bytes that begin every module: "\0asm", version 1. */
const header = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00];

function validates(...sections: number[][]): boolean {
  return WebAssembly.validate(Uint8Array.from([...header, ...sections.flat()]));
}

/** One function of no parameters and no results with the given body, in the sections type, function and code. */
function functionWithBody(body: number[]): number[][] {
  const code = [0x00, ...body, 0x0b];
  return [
    [0x01, 0x04, 0x01, 0x60, 0x00, 0x00],
    [0x03, 0x02, 0x01, 0x00],
    [0x0a, code.length + 2, 0x01, code.length, ...code],
  ];
}

const zero_vector = [0xfd, 0x0c, ...new Array<number>(16).fill(0)];

/** 128-bit SIMD: v128.const, drop. */
export function supportsSimd(): boolean {
  return validates(...functionWithBody([...zero_vector, 0x1a]));
}

/** Relaxed SIMD: f32x4.relaxed_madd (opcode 0x105) of three zero vectors, dropped. */
export function supportsRelaxedSimd(): boolean {
  return validates(...functionWithBody([...zero_vector, ...zero_vector, ...zero_vector, 0xfd, 0x85, 0x02, 0x1a]));
}

/** Memory64: a memory section whose limits carry the 64-bit flag. */
export function supportsMemory64(): boolean {
  return validates([0x05, 0x03, 0x01, 0x04, 0x01]);
}

/** Threads: a shared memory can be made, which needs a cross-origin-isolated page. */
export function supportsThreads(): boolean {
  return globalThis.crossOriginIsolated === true && typeof SharedArrayBuffer === "function";
}

/** The arms that this engine could host, in a fixed order; whether each module was built shows at prepare. */
export function hostableArms(has_adapter: boolean, adapter_has_f16: boolean): string[] {
  const arms: string[] = ["wasm-scalar"];
  const simd = supportsSimd();
  const threads = simd && supportsThreads();
  if (simd) arms.push("wasm-simd");
  if (threads) arms.push("wasm-simd-mt");
  if (threads && supportsRelaxedSimd()) arms.push("wasm-relaxed-mt");
  if (threads && supportsMemory64()) arms.push("wasm64-simd-mt", "wasm64-relaxed-mt");
  if (has_adapter) arms.push("webgpu");
  if (has_adapter && adapter_has_f16) arms.push("webgpu-f16");
  return arms;
}
