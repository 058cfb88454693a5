// What the page can say about itself and about the GPU adapter it would get. Read anew at every call, never cached.

import type { AdapterFacts } from "./arm";
import type { Facts, PageFacts } from "./arm_events";
import { supportsMemory64, supportsRelaxedSimd } from "./wasm_features";

/** Distinct ticks of the clock to look at, and the longest time to spend on it. */
const quantum_ticks = 50;
const quantum_budget_ms = 25;

/**
 * The smallest step by which `now` advances, in microseconds (5 on a cross-origin-isolated page of Chrome, 100 otherwise).
 * Rounded to 0.1 us, since the readings are doubles; 0 when the clock did not move within the budget of readings.
 */
export function timerQuantumMicroseconds(now: () => number, max_readings = 5_000_000): number {
  const started = now();
  let previous = started;
  let smallest = Number.POSITIVE_INFINITY;
  let ticks = 0;
  for (let reading = 0; reading < max_readings && ticks < quantum_ticks; reading += 1) {
    const current = now();
    if (current === previous) continue;
    smallest = Math.min(smallest, current - previous);
    previous = current;
    ticks += 1;
    if (current - started > quantum_budget_ms) break;
  }
  return ticks === 0 ? 0 : Math.round(smallest * 10_000) / 10;
}

export function readPageFacts(): PageFacts {
  return {
    cross_origin_isolated: globalThis.crossOriginIsolated === true,
    visibility: document.visibilityState === "visible" ? "visible" : "hidden",
    timer_quantum_us: timerQuantumMicroseconds(() => performance.now()),
    hardware_concurrency: Math.max(1, navigator.hardwareConcurrency ?? 1),
    user_agent: navigator.userAgent,
    webgpu: navigator.gpu !== undefined && navigator.gpu !== null,
    wasm_relaxed_simd: supportsRelaxedSimd(),
    wasm_memory64: supportsMemory64(),
  };
}

/** GPUAdapterInfo with members that not every engine has and the published types may lack. */
type AnyAdapterInfo = Partial<GPUAdapterInfo> & {
  isFallbackAdapter?: boolean;
  subgroupMinSize?: number;
  subgroupMaxSize?: number;
};

/** The facts of one adapter, with what the engine does not say left out rather than guessed. */
export function describeAdapter(adapter: GPUAdapter): AdapterFacts {
  const info = (adapter.info ?? {}) as AnyAdapterInfo;
  const facts: AdapterFacts = {
    vendor: info.vendor ?? "",
    architecture: info.architecture ?? "",
    device: info.device ?? "",
    description: info.description ?? "",
    features: [...adapter.features].sort(),
    limits: readLimits(adapter.limits),
  };
  if (typeof info.isFallbackAdapter === "boolean") facts.is_fallback = info.isFallbackAdapter;
  if (typeof info.subgroupMinSize === "number") facts.subgroup_min_size = info.subgroupMinSize;
  if (typeof info.subgroupMaxSize === "number") facts.subgroup_max_size = info.subgroupMaxSize;
  return facts;
}

function readLimits(limits: GPUSupportedLimits): Record<string, number> {
  const result: Record<string, number> = {};
  // The limits are getters on the prototype, so that Object.keys would see none.
  for (const name in limits) {
    const value = (limits as unknown as Record<string, unknown>)[name];
    if (typeof value === "number") result[name] = value;
  }
  return result;
}

/** Asks for the adapter that a measurement would use: the fast one where a machine has two. */
export async function readAdapterFacts(): Promise<AdapterFacts | undefined> {
  const adapter = await navigator.gpu?.requestAdapter({ powerPreference: "high-performance" });
  return adapter ? describeAdapter(adapter) : undefined;
}

export async function readFacts(): Promise<Facts> {
  const adapter = await readAdapterFacts();
  const facts: Facts = { page: readPageFacts() };
  if (adapter !== undefined) facts.adapter = adapter;
  return facts;
}
