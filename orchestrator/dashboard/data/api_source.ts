// The server's API as a Source.

import { Problem } from "./problem";
import { getJson, request, type Comparison, type CurvePoint, type Machine, type Page, type Policy, type Preset, type ReceiptFilter } from "./source";
import type { ReceiptSummary, Run, RunRequest, Schedule, Source, Trend } from "./source";

const root = "/api/v1";

function search(fields: Record<string, string | number | undefined>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) if (value !== undefined && value !== "") query.set(name, String(value));
  const text = query.toString();
  return text === "" ? "" : `?${text}`;
}

/** Undefined where this server has no such resource: only a hub knows agents. */
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
    return listOf(await getJson(`${root}/curve`, signal), "points");
  }
  async compare(a: string, b: string, signal: AbortSignal): Promise<Comparison> {
    return (await getJson(`${root}/compare${search({ a, b })}`, signal)) as Comparison;
  }
  /** Machines known by their receipts, and those whose agents registered with this hub, each one once. */
  async machines(signal: AbortSignal): Promise<Machine[]> {
    const [measured, registered] = await Promise.all([getJson(`${root}/machines`, signal), orWithout(getJson(`${root}/lab/machines`, signal))]);
    const known = new Map(listOf<Machine>(measured, "machines").map((machine) => [machine.id, machine]));
    for (const machine of listOf<Machine>(registered, "machines")) known.set(machine.id, { ...known.get(machine.id), ...machine });
    return [...known.values()];
  }
  async trend(query: { machine: string; preset: string; arm_a?: string; arm_b?: string }, signal: AbortSignal): Promise<Trend> {
    const answer = await getJson(`${root}/trends${search(query)}`, signal);
    return { points: listOf(answer, "points"), changes: listOf(answer, "changes") };
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
