// The server's API as a Source.

import { pointOf } from "./matrix";
import { Problem } from "./problem";
import { getJson, request, type Comparison, type CurvePoint, type Machine, type Page, type Policy, type Preset, type ReceiptFilter } from "./source";
import type { ReceiptSummary, Run, RunRequest, Schedule, Source, Trend } from "./source";

const root = "/api/v1";
/** The server's bound on one page of a list. */
const most_receipts = 500;

function search(fields: Record<string, string | number | undefined>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) if (value !== undefined && value !== "") query.set(name, String(value));
  const text = query.toString();
  return text === "" ? "" : `?${text}`;
}

/** Undefined where this server has no such resource: what it would say is then put together from the receipts. */
async function orWithout(answer: Promise<unknown>): Promise<unknown> {
  try {
    return await answer;
  } catch (thrown) {
    if (thrown instanceof Problem && thrown.status === 404) return undefined;
    throw thrown;
  }
}

/** The list under `name`, whatever else the answer holds. */
function listOf<T>(answer: unknown, name: string): T[] {
  if (Array.isArray(answer)) return answer as T[];
  const list = (answer as Record<string, unknown> | null)?.[name];
  return Array.isArray(list) ? (list as T[]) : [];
}

function pageOf<T>(answer: unknown, name: string): Page<T> {
  const next = (answer as { next?: unknown } | null)?.next;
  return typeof next === "string" ? { items: listOf<T>(answer, name), next } : { items: listOf<T>(answer, name) };
}

export class ApiSource implements Source {
  readonly live = true;

  async receipts(filter: ReceiptFilter, signal: AbortSignal): Promise<Page<ReceiptSummary>> {
    return pageOf(await getJson(`${root}/receipts${search({ ...filter })}`, signal), "receipts");
  }
  async receiptFile(id: string, signal: AbortSignal): Promise<string> {
    return (await request(this.receiptFileAddress(id), { signal })).text();
  }
  receiptFileAddress(id: string): string {
    return `${root}/receipts/${encodeURIComponent(id)}`;
  }
  async curve(signal: AbortSignal): Promise<CurvePoint[]> {
    const answer = await orWithout(getJson(`${root}/curve`, signal));
    if (answer !== undefined) return listOf(answer, "points");
    return (await this.receipts({ limit: most_receipts }, signal)).items.map(pointOf);
  }
  async compare(a: string, b: string, signal: AbortSignal): Promise<Comparison> {
    return (await getJson(`${root}/compare${search({ a, b })}`, signal)) as Comparison;
  }
  async machines(signal: AbortSignal): Promise<Machine[]> {
    const answer = await orWithout(getJson(`${root}/machines`, signal));
    if (answer !== undefined) return listOf(answer, "machines");
    const newest = (await this.receipts({ limit: most_receipts }, signal)).items.reverse();
    const known = newest.map((receipt): [string, Machine] => [
      receipt.machine_id,
      { id: receipt.machine_id, last_seen: receipt.created_at, ...(receipt.machine_name === undefined ? {} : { name: receipt.machine_name }) },
    ]);
    return [...new Map(known).values()];
  }
  async trend(query: { machine: string; preset: string }, signal: AbortSignal): Promise<Trend> {
    const answer = await orWithout(getJson(`${root}/trends${search(query)}`, signal));
    if (answer !== undefined) return { points: listOf(answer, "points"), changes: listOf(answer, "changes") };
    const { items } = await this.receipts({ ...query, limit: most_receipts }, signal);
    return { points: items.map((receipt) => ({ ...receipt, receipt_id: receipt.id })) };
  }

  async presets(signal: AbortSignal): Promise<Preset[]> {
    return listOf(await getJson(`${root}/presets`, signal), "presets");
  }
  async policies(signal: AbortSignal): Promise<Policy[]> {
    return listOf(await getJson(`${root}/policies`, signal), "policies");
  }
  async runs(filter: { state?: string; cursor?: string; limit?: number }, signal: AbortSignal): Promise<Page<Run>> {
    return pageOf(await getJson(`${root}/runs${search(filter)}`, signal), "runs");
  }
  async run(id: string, signal: AbortSignal): Promise<Run> {
    return (await getJson(`${root}/runs/${encodeURIComponent(id)}`, signal)) as Run;
  }
  /** Starts a run; the key makes a doubled click one run. */
  async startRun(wanted: RunRequest, idempotency_key: string): Promise<{ id: string }> {
    const response = await request(`${root}/runs`, {
      method: "POST",
      headers: { "Content-Type": "application/json", "Idempotency-Key": idempotency_key },
      body: JSON.stringify(wanted),
    });
    return (await response.json()) as { id: string };
  }
  async cancelRun(id: string): Promise<void> {
    await request(`${root}/runs/${encodeURIComponent(id)}`, { method: "DELETE" });
  }
  runEventsAddress(id: string): string {
    return `${root}/runs/${encodeURIComponent(id)}/events`;
  }
  async schedules(signal: AbortSignal): Promise<Schedule[]> {
    return listOf(await getJson(`${root}/schedules`, signal), "schedules");
  }
  async changeSchedule(id: string, action: "pause" | "resume" | "run"): Promise<void> {
    await request(`${root}/schedules/${encodeURIComponent(id)}/${action}`, { method: "POST" });
  }
}
