import { beforeEach, describe, expect, it } from "vitest";
import { ajvFor } from "./schema_support";
import type { ArmConfig } from "./arm";
import { EventSender, type ArmEvent, type Facts } from "./arm_events";
import { ArmHost, type WorkerLike } from "./arm_host";
import type { FromWorker, ToWorker } from "./worker_protocol";

const config: ArmConfig = {
  schema: "assay.arm-config/1.0",
  arm: "webgpu",
  model: { layers: 1, d_model: 32, ctx: 16, batch: 2, heads: 2 },
  steps: 2,
  warmup: 1,
  seed: "1",
  threads: 1,
  corpus: { name: "builtin" },
};

const facts: Facts = {
  page: {
    cross_origin_isolated: true,
    visibility: "visible",
    timer_quantum_us: 5,
    hardware_concurrency: 2,
    user_agent: "test",
    webgpu: true,
    wasm_relaxed_simd: true,
    wasm_memory64: false,
  },
};

const prepared_message: FromWorker = {
  type: "prepared",
  prepared: {
    threads: 1,
    weights_sha256: "a".repeat(64),
    batches_sha256: "b".repeat(64),
    corpus_sha256: "c".repeat(64),
    parameters: 10,
    cold_start: { compile: 1 },
    wait: "map",
    variant: { tile: "4x8" },
  },
};

class FakeWorker implements WorkerLike {
  sent: ToWorker[] = [];
  terminated = false;
  onmessage: WorkerLike["onmessage"] = null;
  onerror: WorkerLike["onerror"] = null;
  onmessageerror: WorkerLike["onmessageerror"] = null;
  postMessage(message: ToWorker): void {
    this.sent.push(message);
  }
  terminate(): void {
    this.terminated = true;
  }
  say(message: FromWorker): void {
    this.onmessage?.({ data: message });
  }
}

const validate = ajvFor("arm-event.schema.json");

let events: ArmEvent[];
let workers: FakeWorker[];
let timers: (() => void)[];
let host: ArmHost;

function makeHost(shared_memory: boolean): ArmHost {
  return new ArmHost({
    makeWorker: () => {
      const worker = new FakeWorker();
      workers.push(worker);
      return worker;
    },
    events: new EventSender((text) => {
      const event = JSON.parse(text) as ArmEvent;
      expect(validate(event), JSON.stringify(validate.errors)).toBe(true);
      events.push(event);
    }),
    readFacts: () => Promise.resolve(facts),
    later: (_delay_ms, call) => {
      timers.push(call);
      return () => {
        timers = timers.filter((timer) => timer !== call);
      };
    },
    base_url: "http://127.0.0.1/",
    shared_memory,
  });
}

beforeEach(() => {
  events = [];
  workers = [];
  timers = [];
  host = makeHost(true);
});

async function prepareHost(): Promise<FakeWorker> {
  const call = host.prepare(config);
  const worker = workers.at(-1)!;
  worker.say(prepared_message);
  expect(await call).toBe(true);
  return worker;
}

describe("arm host", () => {
  it("numbers valid events from 0 without gaps through a whole arm", async () => {
    const worker = await prepareHost();
    const warm = host.warmup();
    worker.say({ type: "steps", batch: { phase: "warmup", first: 0, wall_ms: [1], loss: [5] } });
    worker.say({ type: "finished", result: { phase: "warmup", steps: 1 } });
    expect(await warm).toBe(true);
    const measure = host.measure();
    worker.say({ type: "steps", batch: { phase: "measure", first: 0, wall_ms: [1, 2], loss: [5, 4] } });
    worker.say({ type: "finished", result: { phase: "measure", steps: 2, pipelined_step_ms: 0.5 } });
    expect(await measure).toBe(true);
    expect(events.map((event) => event.event)).toEqual(["prepared", "steps", "done", "steps", "done"]);
    expect(events.map((event) => event.sequence)).toEqual([0, 1, 2, 3, 4]);
    expect(worker.sent.map((message) => message.type)).toEqual(["prepare", "run", "run"]);
  });

  it("reports one error, whatever echoes follow it, and ends the worker", async () => {
    const worker = await prepareHost();
    const onerror = worker.onerror;
    const measure = host.measure();
    worker.say({ type: "failed", code: "device-lost", message: "the device went away" });
    onerror?.({ message: "an echo" });
    host.failFromPage(new Error("another echo"));
    expect(await measure).toBe(false);
    expect(events.filter((event) => event.event === "error")).toEqual([
      { event: "error", code: "device-lost", message: "the device went away", phase: "measure", sequence: 1 },
    ]);
    expect(worker.terminated).toBe(true);
    expect(await host.measure()).toBe(false);
    expect(events).toHaveLength(2);
  });

  it("turns a worker that cannot start into an error event", async () => {
    const call = host.prepare(config);
    workers[0]!.onerror?.({});
    expect(await call).toBe(false);
    expect(events).toMatchObject([{ event: "error", code: "internal", phase: "prepare" }]);
  });

  it("asks a running arm to stop, and ends its worker when it does not", async () => {
    const worker = await prepareHost();
    const measure = host.measure();
    await host.abort();
    const prepare = worker.sent[0] as Extract<ToWorker, { type: "prepare" }>;
    expect(Atomics.load(new Int32Array(prepare.abort_flag!), 0)).toBe(1);
    expect(events).toHaveLength(1);
    timers[0]!();
    expect(await measure).toBe(false);
    expect(worker.terminated).toBe(true);
    expect(events.at(-1)).toMatchObject({ event: "error", code: "aborted", phase: "measure" });
  });

  it("forgets the abort deadline once the arm has stopped by itself", async () => {
    const worker = await prepareHost();
    const measure = host.measure();
    await host.abort();
    worker.say({ type: "failed", code: "aborted", message: "the host aborted the measure phase" });
    expect(await measure).toBe(false);
    expect(timers).toHaveLength(0);
    expect(events.filter((event) => event.event === "error")).toHaveLength(1);
  });

  it("ends the worker at once on a page that cannot share memory", async () => {
    host = makeHost(false);
    const worker = await prepareHost();
    const measure = host.measure();
    await host.abort();
    expect(await measure).toBe(false);
    expect(worker.terminated).toBe(true);
    expect(events.at(-1)).toMatchObject({ code: "aborted" });
  });

  it("refuses a phase out of order as one error", async () => {
    expect(await host.measure()).toBe(false);
    expect(await host.warmup()).toBe(false);
    expect(events).toMatchObject([{ event: "error", code: "bad-config", phase: "measure" }]);
  });

  it("gives a second prepare a fresh worker", async () => {
    const first = await prepareHost();
    const second = await prepareHost();
    expect(first.terminated).toBe(true);
    expect(second).not.toBe(first);
  });
});
