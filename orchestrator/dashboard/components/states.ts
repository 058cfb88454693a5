// What a view shows while it has no data, old data, or none to expect.

import { html, nothing, type TemplateResult } from "lit";
import type { LiveQuery } from "../data/live_query";

/**
 * Shows `render(value)` once there is a value; while the server is away the last value stays, under a notice that says so.
 * `what` names the thing for people: "the receipts". `heading` is the page's where only `render` writes one: a page without
 * its thing still says which it is.
 */
export function whenReady<T>(query: LiveQuery<T>, what: string, render: (value: T) => unknown, heading?: string): TemplateResult {
  const { value, problem } = query;
  return html`${heading === undefined || value !== undefined || problem === undefined ? nothing : html`<h1>${heading}</h1>`}
    ${problem === undefined
      ? nothing
      : html`<div class="notice notice-problem" role="alert">
          <p>
            <b>${problem.title}.</b> ${problem.unreachable || problem.detail === "" ? nothing : problem.detail}
            ${problem.unreachable && value !== undefined ? html`What is shown is from before.` : nothing}
            ${problem.unreachable || problem.status >= 500 ? html`Trying again by itself.` : nothing}
          </p>
          <button @click=${() => query.refresh()}>Try now</button>
        </div>`}
    ${value !== undefined
      ? render(value)
      : problem === undefined
        ? html`<p class="loading" role="status">Loading ${what} …</p>`
        : nothing}`;
}

export function emptyState(title: string, body: unknown): TemplateResult {
  return html`<div class="empty"><h2>${title}</h2><p>${body}</p></div>`;
}
