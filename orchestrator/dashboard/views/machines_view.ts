// The machines that measure here: who they are, when they were last heard of, what they are labelled.

import { html, nothing, type TemplateResult } from "lit";
import { customElement } from "lit/decorators.js";
import { clamped, factList } from "../components/figures";
import { emptyState, whenReady } from "../components/states";
import { View } from "../components/view";
import { LiveQuery } from "../data/live_query";
import type { Machine } from "../data/source";
import { absent, ago, moment } from "../format";
import { addressOf } from "../router";

@customElement("assay-machines-view")
export class MachinesView extends View {
  private readonly machines_ = new LiveQuery<Machine[]>(this, (signal) => this.source.machines(signal), 15_000);

  protected override willUpdate(): void {
    this.machines_.for("machines");
  }

  protected override render(): TemplateResult {
    return html`<div class="view-head">
        <div>
          <h1>Machines</h1>
          <p>One measurement at a time on each. A machine is known by the fingerprint of its signing key.</p>
        </div>
      </div>
      ${whenReady(this.machines_, "the machines", (machines) => this.renderList(machines))}`;
  }

  private renderList(machines: Machine[]): TemplateResult {
    if (machines.length === 0) return emptyState("No machine yet", html`A machine shows here with its first receipt (<a href=${this.href("/runs")}>start a run</a>), or when its agent registers.`);
    return html`<div class="table-scroll" tabindex="0" role="region" aria-label="Machines">
      <table class="cards">
        <thead>
          <tr>
            <th scope="col">name</th>
            <th scope="col">state</th>
            <th scope="col">last seen</th>
            <th scope="col">labels</th>
            <th scope="col">receipts</th>
            <th scope="col">facts</th>
          </tr>
        </thead>
        <tbody>
          ${machines.map(
            (machine) =>
              html`<tr>
                <th scope="row" class="long">${clamped(machine.name || machine.id || "published figures, no machine")}${machine.id === "" ? nothing : html`<span class="sub"><code>${machine.id}</code></span>`}</th>
                <td data-name="state" class="long">${stateWords(machine)}</td>
                <td data-name="last seen">${ago(machine.last_seen)}</td>
                <td data-name="labels" class="long">${(machine.labels ?? []).join(", ") || absent}</td>
                <td data-name="receipts"><a href=${this.href(addressOf("receipts", undefined, { machine: machine.id }))}>${receiptWords(machine)}</a></td>
                <td class="whole">${machine.facts === undefined ? nothing : html`<details><summary>facts</summary><div class="inside">${factList(machine.facts)}</div></details>`}</td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>`;
  }
}

/** The state with the reason for it; the page's own machine has none, since no agent speaks for it. */
function stateWords(machine: Machine): TemplateResult {
  if (machine.state === undefined) return html`known by its receipts`;
  const { reason, maintenance_until } = machine as { reason?: string; maintenance_until?: string };
  return html`${machine.state}${maintenance_until === undefined ? nothing : ` until ${moment(maintenance_until)}`}
  ${reason === undefined || reason === "" ? nothing : html`<span class="sub">${reason}</span>`}`;
}

function receiptWords(machine: Machine): string {
  const count = machine["receipts"];
  return typeof count === "number" ? `${count} ${count === 1 ? "receipt" : "receipts"}` : "its receipts";
}
