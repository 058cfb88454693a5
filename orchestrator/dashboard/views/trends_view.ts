// Nightly history of one machine and preset, with changes marked by their size and failures shown as failures.

import { html, nothing, type TemplateResult } from "lit";
import { customElement } from "lit/decorators.js";
import "../components/chart_figure";
import { ratioFigure } from "../components/figures";
import { emptyState, whenReady } from "../components/states";
import { verdictMark } from "../components/verdict";
import { View } from "../components/view";
import { LiveQuery } from "../data/live_query";
import { arm_separator, armPairs } from "../data/matrix";
import { bySize } from "../data/presets";
import type { CurvePoint, Trend } from "../data/source";
import { byName, distinctNames, duration, moment, percent } from "../format";
import { addressOf } from "../router";

const series_words: Record<string, string> = { speedup: "the speed-up", a_median_ms: "A's step time", b_median_ms: "B's step time" };

interface Wanted {
  machine: string;
  preset: string;
  /** As armPair() writes it; "" where no point says. */
  arms: string;
}

@customElement("assay-trends-view")
export class TrendsView extends View {
  private readonly points_ = new LiveQuery<CurvePoint[]>(this, (signal) => this.source.curve(signal));
  private readonly trend_ = new LiveQuery<Trend>(this, (signal) => this.source.trend(this.query(), signal), 60_000);

  private wanted(): Wanted {
    const machine = this.route.query.get("machine") ?? this.machines()[0]?.id ?? "";
    const preset = this.route.query.get("preset") ?? this.presets(machine)[0] ?? "";
    const pairs = this.pairs(machine, preset);
    const asked = this.route.query.get("arms");
    return { machine, preset, arms: asked !== null && pairs.includes(asked) ? asked : (pairs[0] ?? "") };
  }

  /** The question to the server. Figures of other arms are another history. */
  private query(): { machine: string; preset: string; arm_a?: string; arm_b?: string } {
    const { machine, preset, arms } = this.wanted();
    const [arm_a, arm_b] = arms.split(arm_separator);
    return { machine, preset, ...(arm_a === undefined || arm_b === undefined ? {} : { arm_a, arm_b }) };
  }

  private machines(): { id: string; name: string }[] {
    // Published figures that name no machine are nobody's history.
    const named = (this.points_.value ?? []).filter((point) => point.machine_id !== "");
    return [...distinctNames(named)].map(([id, name]) => ({ id, name })).sort(byName);
  }

  private presets(machine: string): string[] {
    const own = (this.points_.value ?? []).filter((point) => point.machine_id === machine).flatMap((point) => point.preset || []);
    return [...new Set(own)].sort(bySize);
  }

  private pairs(machine: string, preset: string): string[] {
    return armPairs((this.points_.value ?? []).filter((point) => point.machine_id === machine && point.preset === preset));
  }

  protected override willUpdate(): void {
    this.points_.for("points");
    const { machine, preset, arms } = this.wanted();
    if (machine !== "" && preset !== "") this.trend_.for(`${machine} ${preset} ${arms}`);
  }

  protected override render(): TemplateResult {
    return html`<div class="view-head">
        <div>
          <h1>Trends</h1>
          <p>What one machine measured over time. A change is marked only where noise does not explain it.</p>
        </div>
      </div>
      ${whenReady(this.points_, "the machines", () => this.renderChoice())}`;
  }

  private renderChoice(): TemplateResult {
    const machines = this.machines();
    const { machine, preset, arms } = this.wanted();
    if (machine === "" || preset === "") return emptyState(
        "No history yet",
        html`A <a href=${this.href("/schedules")}>schedule</a>, or <a href=${this.href("/runs")}>runs by hand</a> on one machine and preset, make a history.`,
      );
    const presets = this.presets(machine);
    return html`<div class="filters">
        <label class="field"
          >Machine
          <select @change=${(event: Event) => this.choose({ machine: (event.target as HTMLSelectElement).value })}>
            ${machines.map(({ id, name }) => html`<option value=${id} ?selected=${id === machine}>${name}</option>`)}
          </select>
        </label>
        <label class="field"
          >Preset
          <select @change=${(event: Event) => this.choose({ machine, preset: (event.target as HTMLSelectElement).value })}>
            ${(presets.includes(preset) ? presets : [preset, ...presets]).map((name) => html`<option value=${name} ?selected=${name === preset}>${name}</option>`)}
          </select>
        </label>
        <label class="field"
          >Arms (A / B)
          <select @change=${(event: Event) => this.choose({ machine, preset, arms: (event.target as HTMLSelectElement).value })}>
            ${this.pairs(machine, preset).map((pair) => html`<option value=${pair} ?selected=${pair === arms}>${pair}</option>`)}
          </select>
        </label>
      </div>
      ${whenReady(this.trend_, "the history", (trend) => this.renderTrend(trend))}`;
  }

  private choose(query: Partial<Wanted>): void {
    this.router.navigate(addressOf("trends", undefined, query), { replace: true });
  }

  private renderTrend(trend: Trend): TemplateResult {
    if (trend.points.length === 0) return emptyState("No receipt of this machine and preset", "Choose another one.");
    const failures = trend.points.filter((point) => point.speedup === undefined).length;
    return html`<section class="sheet">
        <assay-chart
          heading="Speed-up over time"
          description=${`${trend.points.length} receipts, ${failures} without a figure (crosses at the foot), ${trend.changes === undefined ? "changes not looked for" : `${trend.changes.length} ${trend.changes.length === 1 ? "change" : "changes"}`}.`}
          .version=${trend.points.map((point) => point.receipt_id).join(" ")}
          .draw=${async (width: number) => (await import("../charts/trend_plot")).trendPlot(trend, width)}
          .table=${this.renderTable(trend)}
        ></assay-chart>
      </section>
      <section class="section">
        <h2>Changes</h2>
        ${trend.changes === undefined
          ? html`<p>This server does not look for changes.</p>`
          : trend.changes.length === 0
          ? html`<p>None that noise does not explain.</p>`
          : html`<ul class="reasons">
              ${trend.changes.map(
                (change) =>
                  html`<li>
                    <a href=${this.href(addressOf("receipts", change.receipt_id))}>${moment(change.created_at)}</a>: ${change.size >= 0 ? "up" : "down"}
                    by <b>${percent(Math.abs(change.size))}</b>${change.interval === undefined
                      ? nothing
                      : ` (95 % interval ${percent(change.interval[0])} to ${percent(change.interval[1])})`}${change.series === undefined ? nothing : `, ${series_words[change.series] ?? change.series}`}
                  </li>`,
              )}
            </ul>`}
      </section>`;
  }

  private renderTable(trend: Trend): TemplateResult {
    return html`<table>
      <thead>
        <tr>
          <th scope="col">when</th>
          <th scope="col">verdict</th>
          <th scope="col">ratio</th>
          <th scope="col" class="number">A</th>
          <th scope="col" class="number">B</th>
        </tr>
      </thead>
      <tbody>
        ${trend.points.map(
          (point) =>
            html`<tr>
              <th scope="row"><a href=${this.href(addressOf("receipts", point.receipt_id))}>${moment(point.created_at)}</a></th>
              <td>${verdictMark(point.verdict)}</td>
              <td>${ratioFigure(point)}</td>
              <td class="number">${duration(point.a_median_ms)}</td>
              <td class="number">${duration(point.b_median_ms)}</td>
            </tr>`,
        )}
      </tbody>
    </table>`;
  }
}
