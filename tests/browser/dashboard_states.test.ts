// Every view of the dashboard in every state that its data may be in: one receipt, arms that are missing, runs that failed,
// ten thousand receipts, a server that goes away and comes back.

import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Browser } from "playwright-core";
import type { Receipt } from "../../orchestrator/dashboard/data/receipt";
import { launchChromium } from "./support/chromium";
import { smallLab, tenThousand } from "./support/dashboard_data";
import { DashboardSession } from "./support/dashboard_session";
import { FixtureApi, webFolder, type FixtureData } from "./support/fixture_api";
import { makeReceipt } from "./support/receipt_fixture";

const views = ["/", "/receipts", "/runs", "/curve", "/compare", "/trends", "/schedules", "/machines"];

let browser: Browser;
let api: FixtureApi;
let session: DashboardSession;

beforeAll(async () => {
  browser = await launchChromium({ webgpu: false });
});
afterAll(() => browser?.close());
afterEach(async () => {
  await session?.close();
  await api?.close();
});

async function open(data: FixtureData): Promise<void> {
  api = new FixtureApi(data);
  const origin = await api.start(webFolder());
  session = await DashboardSession.open(browser, origin);
}

/** Visits each path, on a phone and wide: no fault, nothing outside the window, a heading and words. */
async function expectAllWell(paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    for (const width of [360, 1_280]) {
      await session.page.setViewportSize({ width, height: 800 });
      await session.visit(path);
      expect(await session.overflow(), `${path} at ${width}`).toBeLessThanOrEqual(0);
      expect((await session.text()).length, path).toBeGreaterThan(60);
    }
    expect(session.faults, path).toEqual([]);
  }
}

/** Receipts that hold less and less: as a run leaves them that broke off, or as another program might write them. */
function fragments(): Receipt[] {
  const one_arm = makeReceipt({ id: "one-arm", blocks: 1, verdict: "failed" });
  const no_steps = makeReceipt({ id: "no-steps", verdict: "failed" });
  for (const record of no_steps.arms ?? []) delete record.steps;
  const bare = makeReceipt({ id: "bare", verdict: "invalid" });
  for (const part of ["arms", "analysis", "machine", "browser", "adapter", "environment", "inputs", "model", "plan", "chain"] as const) delete bare[part];
  const three = makeReceipt({ id: "three-arms", blocks: 3, verdict: "failed" });
  return [one_arm, no_steps, bare, three, makeReceipt({ id: "refused", verdict: "refused" })];
}

describe("every view", () => {
  it("shows one receipt", async () => {
    await open({ receipts: [makeReceipt({ id: "one" })] });
    await expectAllWell([...views, "/receipts/one", "/compare?a=one", "/compare?a=one&b=one"]);
  });

  it("shows receipts with missing arms, missing parts and no figure", async () => {
    const receipts = fragments();
    await open({ receipts, runs: [{ id: "run-1", state: "failed", created_at: new Date().toISOString(), error: "Chrome ended with signal 9" }] });
    await expectAllWell([...views, "/runs/run-1", ...receipts.map(({ id }) => `/receipts/${id}`), `/compare?a=one-arm&b=no-steps&more=bare,three-arms,refused`]);
  });

  it("shows ten thousand receipts", async () => {
    await open(tenThousand());
    await expectAllWell(views);
  });

  it("says that the server cannot be reached, and goes on by itself when it is back", async () => {
    await open(smallLab());
    await session.visit("/");
    const links = ["Overview", "Receipts", "Runs", "Curve", "Compare", "Trends", "Schedules", "Machines"];
    const go = (name: string): Promise<void> => session.page.getByRole("navigation").getByRole("link", { name, exact: true }).click();
    for (const name of links) {
      await go(name);
      await session.settled();
    }
    for (const name of links) {
      api.away = true;
      await go(name);
      const notice = session.page.locator(".notice-problem").first();
      await notice.waitFor();
      expect(await notice.innerText()).toContain("The server cannot be reached");
      api.away = false;
      await notice.waitFor({ state: "detached", timeout: 20_000 });
      await session.settled();
      expect((await session.text()).length, name).toBeGreaterThan(60);
    }
    expect(session.faults).toEqual([]);
  });
});

describe("more than two receipts", () => {
  it("are each held against the first, in one column each", async () => {
    const lab = smallLab();
    await open(lab);
    await session.visit("/compare");
    await session.page.getByLabel("Or the newest of every machine").selectOption("xl");
    await session.page.getByText(/may be compared with the first|may not be compared/).first().waitFor();
    expect(session.page.url()).toMatch(/a=[\w-]+-xl&b=[\w-]+-xl&more=[\w-]+-xl/);
    const head = session.page.getByRole("region", { name: "Side by side" }).locator("thead th");
    expect(await head.allInnerTexts()).toEqual(["first", "second", "third"]);
    await session.page.getByLabel("Number 3").selectOption("");
    await session.page.waitForURL((url) => !url.search.includes("more="));
    expect(await session.accessibility()).toEqual([]);
  });

  it("are ticked in the list and compared from there", async () => {
    await open(smallLab());
    await session.visit("/receipts");
    const boxes = session.page.getByRole("checkbox");
    for (const index of [0, 2, 3]) await boxes.nth(index).check();
    await session.page.getByRole("link", { name: "Compare these 3" }).click();
    await session.page.locator("[data-comparable]").waitFor();
    expect(await session.page.locator("[data-comparable] h3").count()).toBe(3 - 1);
  });
});

describe("a reader who is new here", () => {
  it("is told the way from nothing to an answer: a run, its receipt, a comparison", async () => {
    await open({ receipts: [] });
    await session.visit("/");
    const steps = session.page.locator(".empty ol li");
    expect(await steps.count()).toBe(3);
    expect(await steps.getByRole("link").allInnerTexts()).toEqual(["Start the first run", "Compare"]);
    await session.visit("/receipts");
    expect(await session.text()).toContain("No receipt yet");
    await session.visit("/receipts?verdict=refused");
    expect(await session.text()).toContain("No receipt matches");
  });

  it("is told what a comparison still needs", async () => {
    await open({ receipts: [makeReceipt({ id: "one" })] });
    await session.visit("/compare?a=one");
    await session.page.getByRole("link", { name: "Start another run" }).waitFor();
    api.data = smallLab();
    await session.visit("/compare");
    await session.page.getByText("Choose two receipts above").waitFor();
    await session.visit("/compare?a=bench-01-large");
    await session.page.getByText("Choose a second receipt above").waitFor();
  });

  it("reads in words which arm was faster, also where the first one was", async () => {
    await open({ receipts: [makeReceipt({ id: "faster", speedup: 9.3 }), makeReceipt({ id: "slower", speedup: 0.0125 })] });
    await session.visit("/receipts/faster");
    expect(await session.text()).toMatch(/webgpu trained 9\.\d+ times as fast as wasm-simd-mt/);
    await session.visit("/receipts/slower");
    expect(await session.text()).toMatch(/webgpu took \d+\.\d times as long as wasm-simd-mt/);
  });
});

describe("published figures that name no machine", () => {
  it("have no history, leave the first one to a machine that has, and are no measurement that needs a look", async () => {
    const published = makeReceipt({ id: "published", machine: "", verdict: "unqualified", evidence: "historical" });
    published.machine!["machine_id"] = "";
    const lab = smallLab();
    await open({ ...lab, receipts: [published, ...lab.receipts.filter(({ verdict }) => verdict.result === "verified")] });
    await session.visit("/trends");
    expect(await session.page.getByLabel("Machine").locator("option").allInnerTexts()).toEqual(["bench-01", "bench-02", "studio"]);
    await session.page.locator(".chart-area svg").waitFor();
    await session.visit("/");
    expect(await session.page.locator(".matrix tbody th").last().innerText()).toBe("machine not stated");
    expect(await session.text()).toContain("Nothing: every measurement");
  });
});

describe("on a phone", () => {
  it.each(["/receipts", "/runs", "/schedules", "/machines"])("%s has nothing to scroll sideways for", async (path) => {
    await open(smallLab());
    await session.page.setViewportSize({ width: 390, height: 844 });
    await session.visit(path);
    const tables = session.page.locator(".table-scroll:has(.cards)");
    expect(await tables.count()).toBe(1);
    expect(await tables.evaluateAll((all) => all.map((table) => table.scrollWidth - table.clientWidth))).toEqual([0]);
    expect(await session.accessibility()).toEqual([]);
  });

  it("the head of the page leaves most of the window to the view", async () => {
    await open(smallLab());
    await session.page.setViewportSize({ width: 390, height: 844 });
    await session.visit("/");
    expect((await session.page.locator(".masthead").boundingBox())!.height).toBeLessThan(140);
  });
});
