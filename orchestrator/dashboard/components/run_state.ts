// The state of a run in a word and a shape.

import { html, type TemplateResult } from "lit";
import type { Run, RunState } from "../data/source";

const signs: Record<RunState, string> = { queued: "…", running: "▶", done: "✓", failed: "✗", cancelled: "■", interrupted: "⚡" };

export function runStateMark(run: Pick<Run, "state" | "phase">): TemplateResult {
  return html`<span class="run-state run-${run.state in signs ? run.state : "unknown"}"
    ><span aria-hidden="true">${signs[run.state] ?? "?"}</span> ${run.state}${run.state === "running" && run.phase !== undefined ? `, ${run.phase}` : ""}</span
  >`;
}
