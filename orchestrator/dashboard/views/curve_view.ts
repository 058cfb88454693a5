// Speed-up over model size, one line a machine; and the cumulative bars from scalar WebAssembly to WebGPU.

import { html, nothing, type TemplateResult } from "lit";
import { customElement } from "lit/decorators.js";
import "../components/chart_figure";
import { ratioFigure } from "../components/figures";
import { emptyState, whenReady } from "../components/states";
import { shapeMark, shapeOf } from "../charts/series_shapes";
import { evidence_meaning, evidenceMark, verdictMark } from "../components/verdict";
import { View } from "../components/view";
import { cumulativeRows, curveSeries, newestPoints } from "../data/curve_series";
import { LiveQuery } from "../data/live_query";
import { armPair, armPairs } from "../data/matrix";
import { bySize } from "../data/presets";
import type { CurvePoint } from "../data/source";
import type { Evidence } from "../data/receipt";
import { byName, distinctNames, flops, machineName, moment, ratio } from "../format";
import { addressOf } from "../router";

const refresh_ms = 60_000;

@customElement("assay-curve-view")
export class CurveView extends View {
  private readonly points_ = new LiveQuery<CurvePoint[]>(this, async (signal) => newestPoints(await this.source.curve(signal)), refresh_ms);

  protected override willUpdate(): void {
    this.points_.for("curve");
  }

  protected override render(): TemplateResult {
    return html`<div class="view-head">
        <div>
          <h1>Curve</h1>
          <p>A single speed-up misleads: it depends on the size of the model and on the baseline. This is the whole curve.</p>
        </div>
      </div>
      ${whenReady(this.points_, "the curve", (points) => this.renderCurve(points))}`;
  }

  private renderCurve(points: CurvePoint[]): TemplateResult {
    if (points.length === 0) return emptyState(
        "Nothing to draw yet",
        html`Measured receipts of several presets make the curve.${this.source.live ? html` <a href=${this.href("/runs")}>Start a run</a> of each size.` : nothing}`,
      );
    const pairs = armPairs(points);
    const wanted = this.route.query.get("arms");
    const pair = wanted !== null && pairs.includes(wanted) ? wanted : pairs[0]!;
    const of_pair = points.filter((point) => armPair(point) === pair).sort(byMachineAndSize);
    const machines = distinctNames(of_pair);
    const machine = this.route.query.get("machine");
    const chosen = machine !== null && machines.has(machine) ? of_pair.filter((point) => point.machine_id === machine) : of_pair;
    const bars = cumulativeRows(points);
    const classes = [...new Set(chosen.map((point) => point.evidence))];
    return html`<div class="filters">
        <label class="field"
          >Arms (A / B)
          <select
            @change=${(event: Event) =>
              this.router.navigate(addressOf("curve", undefined, { arms: (event.target as HTMLSelectElement).value }), { replace: true })}
          >
            ${pairs.map((name) => html`<option value=${name} ?selected=${name === pair}>${name}</option>`)}
          </select>
        </label>
        <label class="field"
          >Machine
          <select
            @change=${(event: Event) =>
              this.router.navigate(addressOf("curve", undefined, { arms: pair, machine: (event.target as HTMLSelectElement).value }), { replace: true })}
          >
            <option value="">all ${machines.size}</option>
            ${[...machines].filter(([id]) => id !== "").map(([id, name]) => html`<option value=${id} ?selected=${id === machine}>${name}</option>`)}
          </select>
        </label>
      </div>
      <section class="sheet">
        <assay-chart
          heading="Speed-up over model size"
          description=${`${pair}, both axes logarithmic. Only measured points are joined, and only between neighbouring sizes.`}
          .version=${JSON.stringify(chosen.map((point) => [point.machine_id, point.preset, point.speedup]))}
          .draw=${async (width: number) => (await import("../charts/curve_plots")).curvePlot(curveSeries(chosen), width)}
          .legend=${this.renderLegend(chosen, classes)}
          .table=${this.renderTable(chosen)}
        ></assay-chart>
      </section>
      ${bars.length === 0
        ? nothing
        : html`<section class="section">
            <assay-chart
              heading="From scalar WebAssembly to WebGPU"
              description="Each bar is how many times faster than scalar WebAssembly an arm is, on one machine and size."
              .version=${JSON.stringify(bars)}
              .draw=${async (width: number) => (await import("../charts/curve_plots")).cumulativePlot(bars, width)}
              .table=${this.renderBarTable(bars)}
            ></assay-chart>
          </section>`}`;
  }

  private renderLegend(points: readonly CurvePoint[], classes: readonly Evidence[]): TemplateResult {
    return html`<ul class="chart-key">
        ${curveSeries(points).map(
          (series) =>
            html`<li class=${`series-${(series.colour % 6) + 1}`}>
              <svg viewBox="0 0 28 12" aria-hidden="true">
                <line x1="0" y1="6" x2="28" y2="6" stroke="currentColor" stroke-width="2"></line>
                ${shapeMark(shapeOf(series.colour))}</svg
              ><span>${series.name}</span>
            </li>`,
        )}
      </ul>
      <ul class="chart-key">
        ${classes.map((evidence) => html`<li>${evidenceMark(evidence)} ${evidence_meaning[evidence] ?? ""}: ${evidence === "measured" ? "filled, joined" : evidence === "projected" ? "dotted outline" : "open outline"}</li>`)}
      </ul>`;
  }

  private renderTable(points: readonly CurvePoint[]): TemplateResult {
    const names = distinctNames(points);
    return html`<table>
      <caption>
        Every point, with its evidence
      </caption>
      <thead>
        <tr>
          <th scope="col">machine</th>
          <th scope="col">preset</th>
          <th scope="col" class="number">work a step</th>
          <th scope="col">ratio</th>
          <th scope="col">evidence</th>
          <th scope="col">verdict</th>
          <th scope="col">receipt</th>
        </tr>
      </thead>
      <tbody>
        ${points.map(
          (point) =>
            html`<tr>
              <th scope="row" class="long">${names.get(point.machine_id)}</th>
              <td>${point.preset || "custom"}</td>
              <td class="number">${flops(point.flops_per_step)}</td>
              <td>${ratioFigure(point)}</td>
              <td>${evidenceMark(point.evidence)}</td>
              <td>${point.verdict === undefined ? nothing : verdictMark(point.verdict)}</td>
              <td>
                ${point.receipt_id === undefined
                  ? html`<span class="absent">none</span>`
                  : html`<a href=${this.href(addressOf("receipts", point.receipt_id))}>${point.created_at === undefined ? "open" : moment(point.created_at)}</a>`}
              </td>
            </tr>`,
        )}
      </tbody>
    </table>`;
  }

  private renderBarTable(bars: ReturnType<typeof cumulativeRows>): TemplateResult {
    return html`<table>
      <thead>
        <tr>
          <th scope="col">machine and size</th>
          <th scope="col">arm</th>
          <th scope="col" class="number">times scalar WebAssembly</th>
          <th scope="col">evidence</th>
          <th scope="col">receipt</th>
        </tr>
      </thead>
      <tbody>
        ${bars.map(
          (bar) =>
            html`<tr>
              <th scope="row" class="long">${bar.group}</th>
              <td>${bar.arm}</td>
              <td class="number">${ratio(bar.factor)}</td>
              <td>${evidenceMark(bar.evidence)}</td>
              <td>
                ${bar.receipt_id === undefined
                  ? html`<span class="absent">1 by definition</span>`
                  : html`<a href=${this.href(addressOf("receipts", bar.receipt_id))}>open</a>`}
              </td>
            </tr>`,
        )}
      </tbody>
    </table>`;
  }
}

function byMachineAndSize(a: CurvePoint, b: CurvePoint): number {
  const named = (point: CurvePoint): { id: string; name: string } => ({ id: point.machine_id, name: machineName(point) });
  return byName(named(a), named(b)) || a.machine_id.localeCompare(b.machine_id) || bySize(a.preset ?? "", b.preset ?? "");
}
