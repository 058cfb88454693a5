// `assay site`: the real program writes plain files, a plain file server publishes them, a real browser reads them.

import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Browser } from "playwright-core";
import { runAssay, Server } from "./support/assay_program";
import { launchChromium } from "./support/chromium";
import { DashboardSession } from "./support/dashboard_session";

const results = fileURLToPath(new URL("../../results/", import.meta.url));
/** Receipts of a real GPU with every verdict that such a machine gives: verified, inconclusive, refused. */
const measured = fileURLToPath(new URL("../support/receipts", import.meta.url));
const idOf = (name: string): string => receiptIn(`${measured}/${name}.assay.json`).id;

interface Inner {
  id: string;
  verdict: { result: string };
  analysis: { speedup?: number };
}

function receiptIn(file: string): Inner {
  const { payload } = JSON.parse(readFileSync(file, "utf8")) as { payload: string };
  return (JSON.parse(Buffer.from(payload, "base64").toString()) as { predicate: Inner }).predicate;
}

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "assay-site-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("a site under a sub-path of plain static hosting", () => {
  let browser: Browser;
  let published: string;
  let server: Server;
  let session: DashboardSession;
  let missing: string[];

  beforeAll(async () => {
    published = mkdtempSync(join(tmpdir(), "assay-published-"));
    const home = join(published, "home");
    expect(runAssay("import", "--home", home, `${results}historical/curve.json`, `${results}historical/cumulative.json`).status).toBe(0);
    const written = runAssay("site", join(published, "www/speed/assay"), measured, join(home, "receipts"), "--home", home);
    expect(written).toMatchObject({ status: 0, stderr: "" });
    server = await Server.plainFiles(join(published, "www"));
    browser = await launchChromium({ webgpu: false, names: ["plain.example"] });
  });
  afterAll(async () => {
    await browser?.close();
    await server?.stop();
    rmSync(published, { recursive: true, force: true });
  });

  async function open(path: string, origin = server.origin): Promise<void> {
    session = await DashboardSession.open(browser, `${origin}/speed/assay/`);
    missing = [];
    session.page.on("response", (response) => {
      if (response.status() >= 400) missing.push(response.url());
    });
    await session.visit(path);
  }
  afterEach(async () => {
    expect(session.faults).toEqual([]);
    // Nothing outside the sub-path is asked for: the session counts all else as foreign.
    expect(session.foreign_requests).toEqual([]);
    expect(missing).toEqual([]);
    await session.close();
  });

  it("has a figure of every machine and size, each with its evidence class and a link to its receipt", async () => {
    await open("");
    const figures = await session.page.locator(".matrix td").evaluateAll((cells) =>
      cells
        .filter((cell) => cell.querySelector(".ratio b") !== null)
        .map((cell) => ({ evidence: cell.querySelector(".evidence")?.textContent ?? "", link: cell.querySelector("a")?.getAttribute("href") ?? "" })),
    );
    expect(figures.length).toBeGreaterThanOrEqual(8);
    expect(new Set(figures.map(({ evidence }) => evidence.trim()))).toEqual(new Set(["measured", "historical", "projected"]));
    for (const { link } of figures) expect(link).toMatch(/^#\/receipts\/[0-9A-Z]{26}$/);
    await session.page.locator(".matrix td a").first().click();
    await session.page.locator("[data-verification]").waitFor();
  });

  it("draws the curve, and lists each of its points with its evidence and its receipt", async () => {
    await open("#/curve");
    expect(await session.page.locator(".chart-area svg").count()).toBeGreaterThanOrEqual(1);
    for (const table of await session.page.locator("main assay-chart").all()) {
      await table.locator("summary").click();
      const rows = await table.locator("tbody tr").evaluateAll((all) =>
        all.map((row) => ({
          figure: row.textContent?.includes("×") ?? false,
          evidence: row.querySelector(".evidence") !== null,
          receipt: row.querySelector("a[href^='#/receipts/']") !== null || row.textContent?.includes("by definition") === true,
        })),
      );
      expect(rows.length).toBeGreaterThan(0);
      for (const row of rows.filter(({ figure }) => figure)) expect(row).toEqual({ figure: true, evidence: true, receipt: true });
    }
  });

  it("verifies a receipt in the browser and hands out the same bytes", async () => {
    await open(`#/receipts/${idOf("large")}`);
    expect(await session.page.locator("[data-verification]").getAttribute("data-verification")).toBe("valid");
    const [download] = await Promise.all([session.page.waitForEvent("download"), session.page.getByText("Signed file", { exact: true }).click()]);
    expect(readFileSync(await download.path())).toEqual(readFileSync(`${measured}/large.assay.json`));
  });

  it("answers whether receipts may be compared, two or more", async () => {
    await open(`#/compare?a=${idOf("large")}&b=${idOf("xl")}`);
    await session.page.getByText("These two may not be compared").waitFor();
    await session.visit(`#/compare?a=${idOf("large")}&b=${idOf("xl")}&more=${idOf("small")}`);
    await session.page.getByText("0 of these 2 may be compared with the first").waitFor();
    expect(await session.page.locator("table").first().locator("thead th").allInnerTexts()).toEqual(["first", "second", "third"]);
  });

  it("names a receipt that this copy does not hold", async () => {
    await open("#/receipts/01M8QEDKAG0CP3F4EF32ZCNXXX");
    await session.page.getByText("Not Found", { exact: false }).or(session.page.getByText("File not found")).first().waitFor();
    expect(missing).toHaveLength(1);
    missing = [];
  });

  it("has no accessibility violation and fits a phone", async () => {
    await open("");
    for (const path of ["", "#/receipts", "#/curve", "#/machines", `#/receipts/${idOf("refused")}`, `#/compare?a=${idOf("large")}&b=${idOf("xl")}`]) {
      await session.page.setViewportSize({ width: 360, height: 800 });
      await session.visit(path);
      expect(await session.accessibility()).toEqual([]);
      expect(await session.overflow()).toBeLessThanOrEqual(0);
    }
  });

  it("checks all but the signature where plain http keeps cryptography from the page", async () => {
    await open(`#/receipts/${idOf("large")}`, `http://plain.example:${server.port}`);
    expect(await session.page.evaluate(() => isSecureContext)).toBe(false);
    expect(await session.page.locator("[data-verification]").getAttribute("data-verification")).toBe("partial");
    expect(await session.text()).toContain("Open it over https, or use assay verify.");
    expect(await session.page.locator(".checks .failed").count()).toBe(0);
  });
});

describe("what is written", () => {
  const written = (): string[] => readdirSync(join(folder, "site/data/receipts")).map((name) => name.replace(".assay.json", "")).sort();

  it("is what was chosen: by file, by id, by verdict", () => {
    const home = join(folder, "home");
    expect(runAssay("site", join(folder, "site"), `${measured}/large.assay.json`, `${measured}/xl.assay.json`).status).toBe(0);
    expect(written()).toEqual([idOf("large"), idOf("xl")].sort());
    expect(runAssay("site", join(folder, "site"), measured, "--verdict", "verified,refused").status).toBe(0);
    const names = readdirSync(measured).map((name) => name.replace(".assay.json", ""));
    const wanted = names.filter((name) => ["verified", "refused"].includes(receiptIn(`${measured}/${name}.assay.json`).verdict.result));
    expect(wanted.length).toBeGreaterThan(0);
    expect(wanted.length).toBeLessThan(names.length);
    expect(written()).toEqual(wanted.map(idOf).sort());
    expect(runAssay("import", "--home", home, `${results}historical/apple-m5-pro.json`).status).toBe(0);
    expect(runAssay("site", join(folder, "site"), "--home", home).status).toBe(0);
    const [imported] = written();
    expect(runAssay("site", join(folder, "site"), imported!, `${measured}/small.assay.json`, "--home", home, "--evidence", "observed").status).toBe(0);
    expect(written()).toEqual([imported]);
  });

  it("is nothing while a chosen receipt is missing or broken, and each one is named", () => {
    const broken = join(folder, "broken.assay.json");
    const text = readFileSync(`${measured}/large.assay.json`, "utf8");
    writeFileSync(broken, text.slice(0, 5_000) + (text[5_000] === "A" ? "B" : "A") + text.slice(5_001));
    const options = ["site", join(folder, "site"), measured, broken, join(folder, "absent.assay.json"), "01M8QEDKAG0CP3F4EF32ZCNXXX", "--home", join(folder, "home")];
    const refused = runAssay(...options);
    expect(refused.status).toBe(4);
    for (const named of ["broken.assay.json", "absent.assay.json", "01M8QEDKAG0CP3F4EF32ZCNXXX"]) expect(refused.stderr).toContain(named);
    expect(existsSync(join(folder, "site"))).toBe(false);
    const without = runAssay(...options, "--leave-out-broken");
    expect(without.status).toBe(0);
    expect(without.stderr).toContain("broken.assay.json");
    expect(without.stdout).toContain(`${readdirSync(measured).length} receipts, 3 left out`);
  });

  it("replaces an earlier site, leaves the files of others, and never overwrites what is no site", () => {
    const site = join(folder, "site");
    mkdirSync(site);
    writeFileSync(join(site, "CNAME"), "speed.example\n");
    expect(runAssay("site", site, measured).status).toBe(0);
    expect(runAssay("site", site, `${measured}/xl.assay.json`).status).toBe(0);
    expect(written()).toEqual([idOf("xl")]);
    expect(readFileSync(join(site, "CNAME"), "utf8")).toBe("speed.example\n");
    const other = join(folder, "other");
    mkdirSync(other);
    writeFileSync(join(other, "index.html"), "somebody's page");
    const refused = runAssay("site", other, measured);
    expect(refused.status).not.toBe(0);
    expect(refused.stderr).toContain("index.html");
    expect(readFileSync(join(other, "index.html"), "utf8")).toBe("somebody's page");
  });

  it("is not started where no receipt is left", () => {
    const copy = join(folder, "receipts");
    cpSync(measured, copy, { recursive: true });
    const refused = runAssay("site", join(folder, "site"), copy, "--preset", "behemoth");
    expect(refused.status).not.toBe(0);
    expect(refused.stderr).toContain("No receipt was chosen");
  });
});
