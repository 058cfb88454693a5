// The frame around every view: masthead, navigation, theme, the place where views appear.

import { html, LitElement, type TemplateResult } from "lit";
import { customElement, property, state } from "lit/decorators.js";
import type { Source } from "./data/source";
import { entries, masthead } from "./components/masthead";
import { applyTheme, readTheme, type Theme } from "./components/theme";
import type { Route, Router } from "./router";
import { unreachable } from "./data/problem";

@customElement("assay-app")
export class AppShell extends LitElement {
  @property({ attribute: false }) source!: Source;
  @property({ attribute: false }) router!: Router;
  @state() private route_: Route | undefined;
  @state() private theme_: Theme = "system";
  @state() private load_problem_: string | undefined;
  private loaded_view_: string | undefined;

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  /** Called once source and router are set. */
  start(): void {
    // What index.html says until this runs.
    this.replaceChildren();
    this.setTheme(readTheme());
    this.router.listen(() => void this.follow());
    void this.follow();
  }

  /** Loads the code of the view that the address names, then shows it. */
  private async follow(): Promise<void> {
    const route = this.router.current();
    try {
      await loadView(route);
    } catch (thrown) {
      this.load_problem_ = unreachable(thrown).title;
      return;
    }
    const moved = this.loaded_view_ !== undefined && this.loaded_view_ !== `${route.view}/${route.id ?? ""}`;
    this.loaded_view_ = `${route.view}/${route.id ?? ""}`;
    this.load_problem_ = undefined;
    this.route_ = route;
    document.title = `${titleOf(route)} · Assay`;
    if (moved) {
      window.scrollTo(0, 0);
      await this.updateComplete;
      // The reader of a screen is taken to the new view as the reader of pixels is.
      this.querySelector<HTMLElement>("main")?.focus({ preventScroll: true });
    }
  }

  private setTheme(theme: Theme): void {
    this.theme_ = theme;
    applyTheme(theme);
  }

  protected override render(): TemplateResult {
    return html`<a class="skip" href="#content" @click=${this.skip}>Skip to content</a>
      ${masthead({
        current: this.route_?.view,
        live: this.source.live,
        href: (path) => this.router.href(path),
        theme: this.theme_,
        choose: (theme) => this.setTheme(theme),
      })}
      <main id="content" tabindex="-1">${this.renderView()}</main>
      <footer class="colophon">
        <p>
          Every figure comes from a signed receipt with its raw samples, or says that it does not.
          ${this.source.live ? html`<a href="/api/v1/openapi.json" target="_self">API</a>` : "A static copy: nothing here is measured live."}
        </p>
      </footer>`;
  }

  private skip(event: Event): void {
    event.preventDefault();
    this.querySelector<HTMLElement>("main")?.focus();
  }

  private renderView(): unknown {
    const { source, router } = this;
    if (this.load_problem_ !== undefined) {
      return html`<div class="notice notice-problem" role="alert">
        <p>${this.load_problem_}, so this view could not be loaded.</p>
        <button @click=${() => void this.follow()}>Try again</button>
      </div>`;
    }
    const route = this.route_;
    if (route === undefined) return html`<p class="loading" role="status">Loading …</p>`;
    switch (route.view) {
      case "overview":
        return html`<assay-overview-view .source=${source} .route=${route} .router=${router}></assay-overview-view>`;
      case "receipts":
        return route.id === undefined
          ? html`<assay-receipts-view .source=${source} .route=${route} .router=${router}></assay-receipts-view>`
          : html`<assay-receipt-view .source=${source} .route=${route} .router=${router}></assay-receipt-view>`;
      case "runs":
        return route.id === undefined
          ? html`<assay-runs-view .source=${source} .route=${route} .router=${router}></assay-runs-view>`
          : html`<assay-run-view .source=${source} .route=${route} .router=${router}></assay-run-view>`;
      case "curve":
        return html`<assay-curve-view .source=${source} .route=${route} .router=${router}></assay-curve-view>`;
      case "compare":
        return html`<assay-compare-view .source=${source} .route=${route} .router=${router}></assay-compare-view>`;
      case "trends":
        return html`<assay-trends-view .source=${source} .route=${route} .router=${router}></assay-trends-view>`;
      case "schedules":
        return html`<assay-schedules-view .source=${source} .route=${route} .router=${router}></assay-schedules-view>`;
      case "machines":
        return html`<assay-machines-view .source=${source} .route=${route} .router=${router}></assay-machines-view>`;
      default:
        return html`<div class="empty">
          <h1>There is no such page</h1>
          <p><a href=${router.href("/")}>Go to the overview</a></p>
        </div>`;
    }
  }
}

async function loadView(route: Route): Promise<void> {
  switch (route.view) {
    case "overview":
      await import("./views/overview_view");
      return;
    case "receipts":
      await (route.id === undefined ? import("./views/receipts_view") : import("./views/receipt_view"));
      return;
    case "runs":
      await (route.id === undefined ? import("./views/runs_view") : import("./views/run_view"));
      return;
    case "curve":
      await import("./views/curve_view");
      return;
    case "compare":
      await import("./views/compare_view");
      return;
    case "trends":
      await import("./views/trends_view");
      return;
    case "schedules":
      await import("./views/schedules_view");
      return;
    case "machines":
      await import("./views/machines_view");
      return;
  }
}

function titleOf(route: Route): string {
  if (route.id !== undefined) return `${route.view === "runs" ? "Run" : "Receipt"} ${route.id}`;
  return entries.find((entry) => entry.view === route.view)?.title ?? "Not found";
}
