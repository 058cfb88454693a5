// The playground in a real browser: it trains, shows what happens while it does, writes text, and hands out what was seen.

import { readFileSync } from "node:fs";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Browser } from "playwright-core";
import { servedTree } from "./support/arm_session";
import { launchChromium } from "./support/chromium";
import { DashboardSession } from "./support/dashboard_session";
import { serveFolders, type StaticServer } from "./support/static_server";

interface Seen {
  note: string;
  preset: string;
  arm: string;
  sample: string;
  facts: { adapter?: { is_fallback?: boolean } };
  events: { event: string; phase?: string; wall_ms?: number[]; loss?: number[] }[];
}

/** A dozen steps on the software adapter of a machine with other work. */
const longest_training_ms = 200_000;

let server: StaticServer;
let browser: Browser;
let session: DashboardSession;

beforeAll(async () => {
  server = await serveFolders({ "/": servedTree(true) });
  browser = await launchChromium({ webgpu: true });
});
afterAll(async () => {
  await browser?.close();
  await server?.close();
});
afterEach(async () => {
  expect(session.faults).toEqual([]);
  expect(session.foreign_requests).toEqual([]);
  await session.close();
});

async function open(query: string, width = 1280): Promise<void> {
  session = await DashboardSession.open(browser, server.origin, { width });
  await session.visit(`/playground/?${query}`);
  await session.page.locator("button", { hasText: "Train" }).and(session.page.locator(":enabled")).waitFor();
}

async function train(steps: number): Promise<void> {
  await session.page.getByLabel("Steps", { exact: true }).fill(String(steps));
  await session.page.getByRole("button", { name: "Train" }).click();
}

const stage = (name: string): Promise<void> => session.page.locator(`[data-stage='${name}']`).waitFor({ timeout: longest_training_ms });

async function exported(): Promise<Seen> {
  const [download] = await Promise.all([session.page.waitForEvent("download"), session.page.getByRole("button", { name: "Export what was seen" }).click()]);
  return JSON.parse(readFileSync(await download.path(), "utf8")) as Seen;
}

describe.each(["wasm-simd-mt", "webgpu"])("tiny on %s", { timeout: longest_training_ms + 60_000 }, (arm) => {
  // The software adapter takes seconds a step of tiny; a dozen are enough to see the loss fall.
  const steps = arm === "webgpu" ? 12 : 400;

  it("trains, shows loss and step time as they come, writes text and exports what was seen", async () => {
    await open(`preset=tiny&arm=${arm}`);
    expect(await session.text()).toContain("This explores and proves nothing.");
    await train(steps);
    await session.page.getByText(/Training: step [1-9]\d* of/).waitFor();
    await stage("finished");

    const sample = await session.page.locator("[data-sample]").innerText();
    expect(sample.length).toBeGreaterThan(60);
    expect(await session.page.locator(".chart-area svg").count()).toBe(2);

    const seen = await exported();
    expect(seen).toMatchObject({ preset: "tiny", arm });
    expect(seen.note).toContain("proves nothing");
    expect(seen.sample.length).toBeGreaterThan(60);
    const timed = seen.events.filter((event) => event.event === "steps" && event.phase === "measure");
    const losses = timed.flatMap((event) => event.loss ?? []);
    expect(losses).toHaveLength(steps);
    expect(timed.flatMap((event) => event.wall_ms ?? []).every((wall_ms) => wall_ms > 0)).toBe(true);
    // A model that knows nothing has ln 256 = 5.55; this one has learned.
    expect(losses[0]).toBeGreaterThan(5.4);
    expect(losses.at(-1)).toBeLessThan(losses[0]! - 0.3);
  });
});

describe("the playground", () => {
  it("says that the software adapter's speed says nothing about a GPU", async () => {
    await open("arm=webgpu");
    expect(await session.text()).toContain("its speed says nothing about a GPU");
  });

  it("has the theme that was chosen in the dashboard, and leads back to its views", async () => {
    await open("preset=smoke&arm=wasm-simd-mt");
    await session.page.evaluate(() => localStorage.setItem("assay-theme", "dark"));
    await session.page.reload();
    await session.page.getByRole("button", { name: "Theme: dark" }).waitFor();
    expect(await session.page.evaluate(() => document.documentElement.dataset["theme"])).toBe("dark");
    expect(await session.page.getByRole("navigation").getByRole("link").count()).toBe(9);
  });

  it("stops when asked, keeps what was seen, and trains again", async () => {
    await open("preset=tiny&arm=wasm-simd-mt");
    await train(10_000);
    await session.page.getByText(/Training: step [1-9]\d* of/).waitFor();
    await session.page.getByRole("button", { name: "Stop" }).click();
    await stage("stopped");
    expect((await exported()).events.some((event) => event.event === "steps" && event.phase === "measure")).toBe(true);
    await train(20);
    await stage("finished");
  });

  it.each([360, 1_900])("has no accessibility violation at %d pixels, light and dark, before and after training", async (width) => {
    await open("preset=smoke&arm=wasm-simd-mt", width);
    const check = async (): Promise<void> => {
      for (const colour_scheme of ["light", "dark"] as const) {
        await session.page.emulateMedia({ colorScheme: colour_scheme });
        expect(await session.accessibility()).toEqual([]);
        expect(await session.overflow()).toBeLessThanOrEqual(0);
      }
    };
    await check();
    await train(20);
    await stage("finished");
    await check();
  });
});
