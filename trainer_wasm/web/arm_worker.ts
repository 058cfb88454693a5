// The dedicated worker that hosts one arm: one worker an arm, and nothing else runs in it.

import { ArmError, type Arm } from "./arm";
import { ArmDriver } from "./arm_driver";
import { makeArm } from "./make_arm";
import { describeFailure } from "./failure";
import type { FromWorker, InspectRequest, Inspection, ToWorker } from "./worker_protocol";

const scope = globalThis as unknown as DedicatedWorkerGlobalScope;

let driver: ArmDriver | undefined;
let arm: Arm | undefined;
let failed = false;

function send(message: FromWorker, transfer: Transferable[] = []): void {
  scope.postMessage(message, transfer);
}

/** Only the first failure is told: what follows it is its echo. */
function fail(thrown: unknown): void {
  if (failed) return;
  failed = true;
  send({ type: "failed", ...describeFailure(thrown) });
}

async function handle(message: ToWorker): Promise<void> {
  if (failed) return;
  switch (message.type) {
    case "prepare": {
      const flag = message.abort_flag === undefined ? undefined : new Int32Array(message.abort_flag);
      arm = await makeArm(message.config, message.base_url);
      driver = new ArmDriver(arm, {
        now: () => performance.now(),
        sendSteps: (batch) => send({ type: "steps", batch }),
        abortRequested: () => flag !== undefined && Atomics.load(flag, 0) !== 0,
      });
      send({ type: "prepared", prepared: await driver.prepare(message.config) });
      return;
    }
    case "run": {
      if (driver === undefined) throw new ArmError("bad-config", `${message.phase} was asked for before prepare`);
      send({ type: "finished", result: await (message.phase === "warmup" ? driver.warmup() : driver.measure()) });
      return;
    }
    case "inspect": {
      const inspection = await inspect(message.request);
      send({ type: "inspected", inspection }, [inspection.values.buffer as ArrayBuffer]);
      return;
    }
  }
}

async function inspect(request: InspectRequest): Promise<Inspection> {
  if (request.what === "parameters") {
    if (arm?.readParameters === undefined) throw new ArmError("unsupported", "this arm cannot read its parameters back");
    return { values: await arm.readParameters() };
  }
  if (arm?.readGradients === undefined) throw new ArmError("unsupported", "this arm cannot read its gradients back");
  const { loss, gradients } = await arm.readGradients(request.batch_index);
  return { values: gradients, loss };
}

scope.addEventListener("message", (event: MessageEvent<ToWorker>) => {
  // Emscripten's threads talk among themselves by other messages; those carry no type of ours.
  handle(event.data).catch(fail);
});
scope.addEventListener("error", (event) => {
  event.preventDefault();
  fail(event.error ?? event.message);
});
scope.addEventListener("unhandledrejection", (event) => {
  event.preventDefault();
  fail(event.reason);
});
