// A server with the API's answers for the dashboard's tests, from receipts in memory. It can go away and come back.

import type { IncomingMessage, ServerResponse } from "node:http";
import { fileURLToPath } from "node:url";
import type { Receipt } from "../../../orchestrator/dashboard/data/receipt";
import type { Comparison, CurvePoint, Machine, ReceiptSummary, Run, Schedule, Trend } from "../../../orchestrator/dashboard/data/source";
import { pointOf } from "../../../orchestrator/dashboard/data/matrix";
import { sealFixture, summaryOf } from "./receipt_fixture";
import { serveFolders, type StaticServer } from "./static_server";

export interface FixtureData {
  receipts: Receipt[];
  /** Summaries without a file behind them, for long lists. */
  summaries?: ReceiptSummary[];
  points?: CurvePoint[];
  runs?: Run[];
  machines?: Machine[];
  schedules?: Schedule[];
  trend?: Trend;
  comparison?: Partial<Comparison>;
  /** Frames of a run's event stream. */
  events?: { event: string; data: unknown }[];
}

export class FixtureApi {
  /** While true every request is cut off, as if the server were not there. */
  away = false;
  readonly posts: { path: string; body: string; key: string | undefined }[] = [];
  private server_: StaticServer | undefined;
  private files_ = new Map<string, string>();

  constructor(public data: FixtureData) {}

  async start(web_folder: string): Promise<string> {
    const dashboard = `${web_folder}/dashboard`;
    this.server_ = await serveFolders({ "/dashboard/": dashboard, "/": web_folder }, (request, response, path) =>
      this.answer(request, response, path),
    );
    return this.server_.origin;
  }

  close(): Promise<void> {
    return this.server_?.close() ?? Promise.resolve();
  }

  private answer(request: IncomingMessage, response: ServerResponse, path: string): boolean {
    if (this.away) {
      request.socket.destroy();
      return true;
    }
    if (path.startsWith("/api/v1/")) {
      this.answerApi(request, response, path.slice("/api/v1".length));
      return true;
    }
    // The dashboard's own paths all answer with its page, which is served from another folder.
    if (/^\/(?:$|(?:runs|receipts|curve|compare|trends|schedules|machines)(?:\/|$))/.test(path)) {
      request.url = "/dashboard/index.html";
      return false;
    }
    return false;
  }

  private summaries(): ReceiptSummary[] {
    const all = [...this.data.receipts.map(summaryOf), ...(this.data.summaries ?? [])];
    return all.sort((a, b) => b.created_at.localeCompare(a.created_at));
  }

  private answerApi(request: IncomingMessage, response: ServerResponse, path: string): void {
    const query = new URL(request.url ?? "", "http://h").searchParams;
    const json = (value: unknown, status = 200): void => {
      response.writeHead(status, { "Content-Type": status >= 400 ? "application/problem+json" : "application/json" }).end(JSON.stringify(value));
    };
    const missing = (): void => json({ title: "Not Found", status: 404, detail: `There is no ${path}`, code: "not-found" }, 404);
    if (request.method === "POST" || request.method === "DELETE") {
      this.collect(request, path, json);
      return;
    }
    const [, resource, id, part] = path.split("/");
    switch (resource) {
      case "receipts":
        return id === undefined ? json(this.receiptPage(query)) : this.sendFile(decodeURIComponent(id), response, missing);
      case "curve":
        return json({ points: this.data.points ?? this.summaries().slice(0, 500).map(pointOf) });
      case "machines":
        return json({ machines: this.data.machines ?? [] });
      case "presets":
        return json({ presets: [{ name: "smoke", layers: 1, d_model: 32, ctx: 16, batch: 2, heads: 2, flops_per_step: 4.3e6 }, { name: "tiny", layers: 2, d_model: 48, ctx: 32, batch: 16, heads: 3, flops_per_step: 2.2e8 }] });
      case "policies":
        return json({ policies: ["apple-metal-3", "nvidia", "any-hardware", "any"].map((name) => ({ name })) });
      case "schedules":
        return json({ schedules: this.data.schedules ?? [] });
      case "compare":
        return json(this.compare(query.get("a") ?? "", query.get("b") ?? ""));
      case "trends":
        return json(this.data.trend ?? { points: [], changes: [] });
      case "runs": {
        if (id === undefined) return json({ runs: this.data.runs ?? [] });
        const run = this.data.runs?.find((candidate) => candidate.id === id);
        if (run === undefined) return missing();
        return part === "events" ? this.sendEvents(response) : json(run);
      }
      default:
        return missing();
    }
  }

  private receiptPage(query: URLSearchParams): { receipts: ReceiptSummary[]; next?: string } {
    const limit = Number(query.get("limit") ?? 50);
    const start = Number(query.get("cursor") ?? 0);
    const kept = this.summaries().filter(
      (receipt) =>
        (query.get("preset") ?? receipt.preset) === receipt.preset &&
        (query.get("verdict") ?? receipt.verdict) === receipt.verdict &&
        (query.get("machine") ?? receipt.machine_id) === receipt.machine_id,
    );
    const receipts = kept.slice(start, start + limit);
    return start + limit < kept.length ? { receipts, next: String(start + limit) } : { receipts };
  }

  private sendFile(id: string, response: ServerResponse, missing: () => void): void {
    let file = this.files_.get(id);
    const receipt = this.data.receipts.find((candidate) => candidate.id === id);
    if (file === undefined && receipt !== undefined) file = sealFixture(receipt);
    if (file === undefined) return missing();
    response.writeHead(200, { "Content-Type": "application/json" }).end(file);
  }

  /** Serves these bytes in place of a receipt's own file. */
  replaceFile(id: string, text: string): void {
    this.files_.set(id, text);
  }

  private compare(a: string, b: string): Comparison {
    const find = (id: string): ReceiptSummary | undefined => this.summaries().find((summary) => summary.id === id);
    const [first, second] = [find(a), find(b)];
    return {
      comparable: true,
      reasons: [],
      differences: [],
      ...(first === undefined ? {} : { a: first }),
      ...(second === undefined ? {} : { b: second }),
      ...this.data.comparison,
    };
  }

  private sendEvents(response: ServerResponse): void {
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    (this.data.events ?? []).forEach(({ event, data }, index) => {
      response.write(`id: e-${index}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
    });
  }

  private collect(request: IncomingMessage, path: string, json: (value: unknown, status?: number) => void): void {
    let body = "";
    request.on("data", (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on("end", () => {
      const key = request.headers["idempotency-key"];
      this.posts.push({ path: `${request.method} ${path}`, body, key: Array.isArray(key) ? key[0] : key });
      if (path === "/runs") {
        const steps = (JSON.parse(body) as { steps: number }).steps;
        if (steps > 5_000) return json({ title: "Bad Request", status: 400, detail: "steps must be 1 to 5000", pointer: "/steps" }, 400);
        const run: Run = { id: "run-new", state: "queued", created_at: new Date().toISOString(), request: JSON.parse(body) as Run["request"] & object };
        this.data.runs = [run, ...(this.data.runs ?? [])];
        return json({ id: run.id, state: run.state }, 202);
      }
      json({ id: "x", state: "cancelled" }, 202);
    });
  }
}

/** The built pages, without which the dashboard cannot be tested. */
export function webFolder(): string {
  return process.env["ASSAY_WEB"] ?? fileURLToPath(new URL("../../../build/share/assay/web", import.meta.url));
}
