// The dashboard against the real service, with real measurements: started in the page, watched live, their receipts opened,
// verified and compared, as a newcomer would.

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Browser } from "playwright-core";
import { Server } from "./support/assay_program";
import { launchChromium } from "./support/chromium";
import { DashboardSession } from "./support/dashboard_session";

/** A measurement of smoke on a software adapter, waiting in line included. */
const longest_run_ms = 110_000;

let home: string;
let server: Server;
let browser: Browser;
let session: DashboardSession;
const receipt_ids: string[] = [];

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), "assay-home-"));
  server = await Server.serve(home);
  browser = await launchChromium({ webgpu: false });
  session = await DashboardSession.open(browser, server.origin);
});
afterAll(async () => {
  await session?.close();
  await browser?.close();
  await server?.stop();
  rmSync(home, { recursive: true, force: true });
});

function expectNoFault(): void {
  expect(session.faults).toEqual([]);
  expect(session.foreign_requests).toEqual([]);
}

/** Starts a run in the page and follows it to its receipt. */
async function measureInThePage(label: string, steps: number): Promise<string> {
  await session.page.getByRole("link", { name: "Runs", exact: true }).click();
  await session.page.getByLabel("Steps").fill(String(steps));
  await session.page.getByLabel("Label (optional)").fill(label);
  await session.page.getByRole("button", { name: "Start run" }).click();
  await session.page.getByRole("heading", { name: label }).waitFor();
  // It is seen while it runs: which block of how many, with step times as they come.
  await session.page.getByText(/Block [1-4] of 4: /).waitFor({ timeout: longest_run_ms });
  await session.page.locator(".chart-area circle").first().waitFor({ timeout: longest_run_ms });
  await session.page.getByRole("link", { name: "Open the receipt" }).click({ timeout: longest_run_ms });
  await session.settled();
  return decodeURIComponent(new URL(session.page.url()).pathname.split("/").at(-1)!);
}

describe("the dashboard of a service that measures", { timeout: 2 * longest_run_ms + 20_000 }, () => {
  it("leads from the empty overview to a first run and its receipt, verified in the browser", async () => {
    await session.visit("/");
    await session.page.getByRole("link", { name: "Start the first run" }).click();
    await session.settled();
    receipt_ids.push(await measureInThePage("first try", 5));
    expect(await session.page.locator("[data-verification]").getAttribute("data-verification")).toBe("valid");
    const text = await session.text();
    // The software adapter of this test is no hardware, and the page says so with the reason.
    expect(text).toContain("unqualified");
    expect(text).toContain("adapter-software");
    expect(await session.page.locator(".chart-area").first().locator("circle").count()).toBe(20);
    expect(await session.accessibility()).toEqual([]);
    expectNoFault();
  });

  it("measures a second time and says whether the two may be compared", async () => {
    receipt_ids.push(await measureInThePage("second try", 5));
    await session.page.getByRole("link", { name: "Receipts", exact: true }).click();
    await session.settled();
    for (const label of ["first try", "second try"]) await session.page.getByRole("row", { name: new RegExp(label) }).getByRole("checkbox").check();
    await session.page.getByRole("link", { name: "Compare these 2" }).click();
    await session.page.locator("[data-comparable]").waitFor();
    expect(await session.page.locator("[data-comparable] h2").innerText()).toMatch(/These two may be compared/);
    // Both did the same work on the same machine; that neither is a measurement of hardware stands beside the figures.
    await session.settled();
    expect((await session.text()).match(/unqualified/g)?.length).toBeGreaterThanOrEqual(2);
    expect(session.page.url()).toContain(`a=${receipt_ids[0]}&b=${receipt_ids[1]}`);
    expectNoFault();
  });

  it.each(["/", "/receipts", "/runs", "/curve", "/trends", "/machines", "/schedules"])("%s shows the real data without a fault, on a phone and wide", async (path) => {
    for (const width of [360, 1_900]) {
      await session.page.setViewportSize({ width, height: 800 });
      await session.visit(path);
      expect(await session.overflow()).toBeLessThanOrEqual(0);
      expect(await session.accessibility()).toEqual([]);
    }
    expectNoFault();
  });

  it("keeps what it shows while the service is away, and goes on when it is back", async () => {
    await session.page.setViewportSize({ width: 1_280, height: 800 });
    await session.visit("/runs");
    const { port } = server;
    await server.stop();
    await session.page.getByText("What is shown is from before.").waitFor({ timeout: 20_000 });
    expect(await session.page.getByText("first try").count()).toBe(1);
    server = await Server.serve(home, port);
    await session.page.getByText("What is shown is from before.").waitFor({ state: "detached", timeout: 40_000 });
    expect(await session.page.getByText("second try").count()).toBe(1);
  });
});

describe("ten thousand receipts in the service's own store", () => {
  it("show a first view that can be used in under a second", async () => {
    // Rows as the service writes them, made from the first receipt's: 40 machines, 4 sizes, one every six minutes.
    const fill = `
import sqlite3, sys
store = sqlite3.connect(sys.argv[1], timeout=30)
columns = [row[1] for row in store.execute("PRAGMA table_info(receipts)")]
first = dict(zip(columns, store.execute("SELECT * FROM receipts LIMIT 1").fetchone()))
rows = []
for number in range(10000):
    row = dict(first, id="01ASSAYTEST%015d" % number, machine_id="%016x" % (number % 40), machine_name="bench-%02d" % (number % 40),
               preset=["small", "medium", "large", "xl"][number // 40 % 4], verdict="verified" if number % 50 else "inconclusive",
               speedup=2 + number % 100 / 10, created_at="2026-%02d-%02dT%02d:%02d:00.000Z" % (1 + number // 2400 % 11, 1 + number // 240 % 28, number // 10 % 24, number % 10 * 6))
    rows.append([row[name] for name in columns])
store.executemany("INSERT INTO receipts VALUES (%s)" % ",".join("?" * len(columns)), rows)
store.commit()
print(store.execute("SELECT count(*) FROM receipts").fetchone()[0])
`;
    const filled = spawnSync("python3", ["-c", fill, join(home, "assay.db")], { encoding: "utf8" });
    expect(filled.stderr).toBe("");
    expect(Number(filled.stdout)).toBeGreaterThanOrEqual(10_000);

    // The best of a few visits: what else the machine does at the same moment is not the page's.
    const visits: number[] = [];
    for (let visit = 0; visit < 7; visit += 1) {
      const started = performance.now();
      await session.page.goto(`${server.origin}/`);
      await session.page.locator("table.matrix tbody tr").first().waitFor();
      visits.push(performance.now() - started);
    }
    console.log(`first view of 10,000 receipts, ms: ${visits.map((ms) => ms.toFixed(0)).join(" ")}`);
    expect(await session.page.locator("table.matrix tbody tr").count()).toBeGreaterThanOrEqual(40);
    expect(Math.min(...visits)).toBeLessThan(1_000);
  });
});
