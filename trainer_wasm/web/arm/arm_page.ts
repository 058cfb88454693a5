// The page that the orchestrator drives: installs `assay` on the global object and says `ready` once.

import type { ArmConfig } from "../arm";
import { EventSender, type Facts } from "../arm_events";
import { ArmHost, type WorkerLike } from "../arm_host";
import { readFacts } from "../page_facts";
import { hostableArms, supportsThreads } from "../wasm_features";
import type { InspectRequest, Inspection } from "../worker_protocol";

export interface AssayPage {
  prepare(config: ArmConfig): Promise<boolean>;
  warmup(): Promise<boolean>;
  measure(): Promise<boolean>;
  abort(): Promise<boolean>;
  /** Page and adapter, both read anew. */
  facts(): Promise<Facts>;
  /** For tests: what the arm holds, read back. */
  inspect(request: InspectRequest): Promise<Inspection | undefined>;
}

type AssayGlobals = { assay?: AssayPage; assayEvent?: (text: string) => void };
const globals = globalThis as unknown as AssayGlobals;

// A reader who opens this page by hand has no binding; the events then go nowhere.
const events = new EventSender((text) => globals.assayEvent?.(text));
const host = new ArmHost({
  makeWorker: () => new Worker(new URL("../arm_worker.ts", import.meta.url), { type: "module" }) as unknown as WorkerLike,
  events,
  readFacts,
  later: (delay_ms, call) => {
    const timer = setTimeout(call, delay_ms);
    return () => clearTimeout(timer);
  },
  base_url: new URL("../", document.baseURI).href,
  shared_memory: supportsThreads(),
});

globals.assay = {
  prepare: (config) => host.prepare(config),
  warmup: () => host.warmup(),
  measure: () => host.measure(),
  abort: () => host.abort(),
  facts: readFacts,
  inspect: (request) => host.inspect(request),
};

window.addEventListener("error", (event) => host.failFromPage(event.error ?? event.message));
window.addEventListener("unhandledrejection", (event) => {
  event.preventDefault();
  host.failFromPage(event.reason);
});

readFacts().then(
  (facts) => {
    const features = facts.adapter?.features ?? [];
    const arms = hostableArms(facts.adapter !== undefined, features.includes("shader-f16"));
    events.send({ event: "ready", arms, ...facts });
  },
  (thrown: unknown) => host.failFromPage(thrown),
);
