// One page of the dashboard in a real browser, and everything that must never happen on it.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Browser, BrowserContext, Page } from "playwright-core";

const axe_source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

export interface SessionOptions {
  width?: number;
  colour_scheme?: "light" | "dark";
}

interface AxeViolation {
  id: string;
  nodes: { html: string; failureSummary?: string }[];
}

export class DashboardSession {
  /** Errors of the page and of its content policy; a dialog would mean that a hostile string ran. */
  readonly faults: string[] = [];
  readonly foreign_requests: string[] = [];

  private constructor(
    private readonly context_: BrowserContext,
    readonly page: Page,
    private readonly origin_: string,
  ) {}

  static async open(browser: Browser, origin: string, options: SessionOptions = {}): Promise<DashboardSession> {
    const context = await browser.newContext({
      viewport: { width: options.width ?? 1280, height: 900 },
      colorScheme: options.colour_scheme ?? "light",
      bypassCSP: false,
    });
    const page = await context.newPage();
    const session = new DashboardSession(context, page, origin);
    page.on("pageerror", (error) => session.faults.push(`error: ${error.message}`));
    page.on("dialog", (dialog) => {
      session.faults.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on("console", (message) => {
      // A cut connection is reported by the browser itself; the view's own notice is what is tested.
      if (message.type() === "error" && !/net::ERR_|status of [45]\d\d/.test(message.text())) session.faults.push(`console: ${message.text()}`);
    });
    page.on("request", (request) => {
      if (!request.url().startsWith(origin) && !/^(?:data|blob):/.test(request.url())) session.foreign_requests.push(request.url());
    });
    return session;
  }

  /** Goes to a view and waits until it has stopped loading. */
  async visit(path: string): Promise<void> {
    await this.page.goto(this.origin_ + path);
    // An address that differs behind "#" alone loads nothing anew, and the old view would pass for the new one.
    if (path.includes("#")) await this.page.reload();
    await this.settled();
  }

  async settled(): Promise<void> {
    await this.page.waitForFunction(() => document.querySelector("main h1") !== null && document.querySelector("main .loading") === null);
    // Drawings come after the words; each chart area must have got its own.
    await this.page.waitForFunction(() => [...document.querySelectorAll(".chart-area")].every((area) => area.childElementCount > 0));
  }

  text(): Promise<string> {
    return this.page.locator("main").innerText();
  }

  /** How far the page's content sticks out of its window, in CSS pixels. */
  overflow(): Promise<number> {
    return this.page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  }

  /** Violations that axe finds, each with the element that has it. */
  async accessibility(): Promise<string[]> {
    await this.page.evaluate(axe_source);
    const violations = await this.page.evaluate(async () => {
      const { axe } = globalThis as unknown as { axe: { run(): Promise<{ violations: AxeViolation[] }> } };
      return (await axe.run()).violations;
    });
    return violations.flatMap((violation) => violation.nodes.map((node) => `${violation.id}: ${node.html.slice(0, 200)} ${node.failureSummary ?? ""}`));
  }

  close(): Promise<void> {
    return this.context_.close();
  }
}
