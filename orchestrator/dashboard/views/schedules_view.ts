// The nightly jobs: what is due when, pause, run now.

import { html, nothing, type TemplateResult } from "lit";
import { customElement, state } from "lit/decorators.js";
import { copyText } from "../components/copy";
import { clamped } from "../components/figures";
import { emptyState, whenReady } from "../components/states";
import { View } from "../components/view";
import type { ApiSource } from "../data/api_source";
import { LiveQuery } from "../data/live_query";
import type { Schedule } from "../data/source";
import { absent, ago, moment } from "../format";

/** What to type to get a first schedule, at night where the reader is. */
function exampleOf(origin: string): string {
  const time_zone = Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";
  const body = { name: "nightly", cron: "0 2 * * *", time_zone, request: { preset: "large", policy: "any-hardware" } };
  return `curl -X POST ${origin}/api/v1/schedules \\\n  -H 'Content-Type: application/json' \\\n  -d '${JSON.stringify(body)}'`;
}

function missedWords(schedule: Schedule): TemplateResult | typeof nothing {
  const missed = schedule["missed"];
  return typeof missed === "number" && missed > 0 ? html`<span class="sub">${missed} missed while the server was down</span>` : nothing;
}

@customElement("assay-schedules-view")
export class SchedulesView extends View {
  @state() private said_ = "";
  private readonly schedules_ = new LiveQuery<Schedule[]>(this, (signal) => (this.source as ApiSource).schedules(signal), 15_000);

  protected override willUpdate(): void {
    this.schedules_.for("schedules");
  }

  protected override render(): TemplateResult {
    return html`<div class="view-head">
        <div>
          <h1>Schedules</h1>
          <p>Jobs that measure by themselves. After a stop at most one missed start is made up for.</p>
        </div>
      </div>
      <p aria-live="polite">${this.said_}</p>
      ${whenReady(this.schedules_, "the schedules", (schedules) => this.renderList(schedules))}`;
  }

  private renderList(schedules: Schedule[]): TemplateResult {
    if (schedules.length === 0) {
      return html`${emptyState("No schedule yet", "A schedule starts runs by itself, at times that a cron line names. This one would measure every night at two:")}
        <pre class="log" tabindex="0">${exampleOf(location.origin)}</pre>
        <p><button @click=${(event: Event) => copyText(event, exampleOf(location.origin))}>Copy this command</button></p>`;
    }
    return html`<div class="table-scroll" tabindex="0" role="region" aria-label="Schedules">
      <table class="cards">
        <thead>
          <tr>
            <th scope="col">name</th>
            <th scope="col">state</th>
            <th scope="col">when</th>
            <th scope="col">next due</th>
            <th scope="col">last started</th>
            <th scope="col">machines</th>
            <th scope="col">actions</th>
          </tr>
        </thead>
        <tbody>
          ${schedules.map(
            (schedule) =>
              html`<tr>
                <th scope="row" class="long">${clamped(schedule.name ?? schedule.id)}</th>
                <td data-name="state">${schedule.paused === true ? "❚❚ paused" : "● active"}</td>
                <td data-name="when"><code>${schedule.cron}</code> <span class="sub">${schedule.time_zone ?? "UTC"}</span></td>
                <td data-name="next due">${schedule.paused === true ? absent : moment(schedule.next_due)}</td>
                <td data-name="last started">${ago(schedule.last_fired)}${missedWords(schedule)}</td>
                <td data-name="machines" class="long">${(schedule.labels ?? []).join(", ") || "any"}</td>
                <td class="whole">
                  <div class="actions">
                    ${schedule.paused === true
                      ? html`<button @click=${() => this.act(schedule, "resume")}>Resume</button>`
                      : html`<button @click=${() => this.act(schedule, "pause")}>Pause</button>`}
                    <button @click=${() => this.act(schedule, "run")}>Run now</button>
                  </div>
                </td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>`;
  }

  private async act(schedule: Schedule, action: "pause" | "resume" | "run"): Promise<void> {
    const name = schedule.name ?? schedule.id;
    try {
      await (this.source as ApiSource).changeSchedule(schedule.id, action);
      this.said_ = action === "run" ? `${name} was started.` : `${name} was ${action}d.`;
      this.schedules_.refresh();
    } catch (thrown) {
      this.said_ = thrown instanceof Error ? thrown.message : "That did not work.";
    }
  }
}
