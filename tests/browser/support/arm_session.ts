// Drives the arm page as the orchestrator does, and checks every event against the schema.

import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Browser, BrowserContext, Page } from "playwright-core";
import type { ArmConfig, ModelShape } from "../../../trainer_wasm/web/arm";
import type { ArmEvent, Facts } from "../../../trainer_wasm/web/arm_events";
import { ajvFor } from "../../../trainer_wasm/web/schema_support";
import type { AssayPage } from "../../../trainer_wasm/web/arm/arm_page";

export const smoke: ModelShape = { layers: 1, d_model: 32, ctx: 16, batch: 2, heads: 2 };
export const tiny: ModelShape = { layers: 2, d_model: 48, ctx: 32, batch: 16, heads: 3 };

export function armConfig(arm: string, overrides: Partial<ArmConfig> = {}): ArmConfig {
  return {
    schema: "assay.arm-config/1.0",
    arm,
    model: smoke,
    steps: 20,
    warmup: 1,
    seed: "42",
    threads: 2,
    corpus: { name: "builtin" },
    ...overrides,
  };
}

/** The served tree: ASSAY_WEB, or where the tools put it. Absent pages or modules fail the tests rather than skip them. */
export function servedTree(needs_arms: boolean): string {
  const folder = process.env["ASSAY_WEB"] ?? fileURLToPath(new URL("../../../build/share/assay/web/", import.meta.url));
  const needed_files = needs_arms ? ["arm/index.html", "wasm/wasm-simd-mt.mjs", "shaders/kernels.json"] : ["arm/index.html"];
  for (const needed of needed_files) {
    if (!existsSync(`${folder}/${needed}`)) {
      throw new Error(`${folder}/${needed} is missing: build the page and the wasm modules first, or set ASSAY_WEB`);
    }
  }
  return folder;
}

type EventOf<Name extends ArmEvent["event"]> = Extract<ArmEvent, { event: Name }>;
type PageGlobals = { assay: AssayPage };

const validate_event = ajvFor("arm-event.schema.json");

export class ArmSession {
  readonly events: ArmEvent[] = [];
  readonly console_errors: string[] = [];

  private constructor(
    private readonly context_: BrowserContext,
    readonly page: Page,
  ) {}

  static async open(browser: Browser, origin: string): Promise<ArmSession> {
    const context = await browser.newContext();
    const page = await context.newPage();
    const session = new ArmSession(context, page);
    page.on("console", (message) => {
      if (message.type() === "error") session.console_errors.push(message.text());
    });
    await page.exposeFunction("assayEvent", (text: string) => session.receive(text));
    await page.goto(`${origin}/arm/`);
    await session.waitFor((event) => event.event === "ready" || event.event === "error");
    return session;
  }

  private receive(text: string): void {
    const event = JSON.parse(text) as ArmEvent;
    if (!validate_event(event)) throw new Error(`invalid event ${text}: ${JSON.stringify(validate_event.errors)}`);
    if (event.sequence !== this.events.length) throw new Error(`event ${event.sequence} came as number ${this.events.length}`);
    this.events.push(event);
  }

  async waitFor(wanted: (event: ArmEvent) => boolean, timeout_ms = 20_000): Promise<ArmEvent> {
    const deadline = Date.now() + timeout_ms;
    for (;;) {
      const found = this.events.find(wanted);
      if (found !== undefined) return found;
      if (Date.now() > deadline) throw new Error(`no such event in ${timeout_ms} ms; had ${JSON.stringify(this.events).slice(0, 2_000)}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  prepare(config: ArmConfig): Promise<boolean> {
    return this.page.evaluate((given) => (globalThis as unknown as PageGlobals).assay.prepare(given), config);
  }
  warmup(): Promise<boolean> {
    return this.page.evaluate(() => (globalThis as unknown as PageGlobals).assay.warmup());
  }
  measure(): Promise<boolean> {
    return this.page.evaluate(() => (globalThis as unknown as PageGlobals).assay.measure());
  }
  abort(): Promise<boolean> {
    return this.page.evaluate(() => (globalThis as unknown as PageGlobals).assay.abort());
  }
  facts(): Promise<Facts> {
    return this.page.evaluate(() => (globalThis as unknown as PageGlobals).assay.facts());
  }

  /** Gradients of one batch at the initial weights, with its loss. */
  async gradients(batch_index: number): Promise<{ loss: number; gradients: number[] }> {
    const read = await this.page.evaluate(async (index) => {
      const { assay } = globalThis as unknown as PageGlobals;
      const inspection = await assay.inspect({ what: "gradients", batch_index: index });
      return inspection === undefined ? undefined : { loss: inspection.loss!, gradients: Array.from(inspection.values) };
    }, batch_index);
    if (read === undefined) throw new Error(`no gradients: ${JSON.stringify(this.events.at(-1))}`);
    return read;
  }

  all<Name extends ArmEvent["event"]>(name: Name): EventOf<Name>[] {
    return this.events.filter((event): event is EventOf<Name> => event.event === name);
  }

  close(): Promise<void> {
    return this.context_.close();
  }
}

export interface ArmRun {
  prepared: EventOf<"prepared">;
  losses: number[];
  wall_ms: number[];
  warmup_losses: number[];
  done: EventOf<"done">;
}

/** A whole arm: prepare, warm up, measure, on a fresh page. Throws what its error event says. */
export async function runArm(browser: Browser, origin: string, config: ArmConfig): Promise<ArmRun> {
  const session = await ArmSession.open(browser, origin);
  try {
    const ok = (await session.prepare(config)) && (await session.warmup()) && (await session.measure());
    if (!ok) throw new Error(`${config.arm}: ${JSON.stringify(session.all("error"))} ${session.console_errors.join("; ")}`);
    const steps = session.all("steps");
    const measured = steps.filter((batch) => batch.phase === "measure");
    return {
      prepared: session.all("prepared")[0]!,
      losses: measured.flatMap((batch) => batch.loss),
      wall_ms: measured.flatMap((batch) => batch.wall_ms),
      warmup_losses: steps.filter((batch) => batch.phase === "warmup").flatMap((batch) => batch.loss),
      done: session.all("done").find((event) => event.phase === "measure")!,
    };
  } finally {
    await session.close();
  }
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
