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
