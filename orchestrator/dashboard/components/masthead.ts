// The head of every page: brand, the views by name, the theme.

import { html, nothing, type TemplateResult } from "lit";
import { themes, type Theme } from "./theme";

interface Entry {
  view: string;
  title: string;
  path: string;
  /** Needs a server that can start runs. */
  live_only?: boolean;
}

export const entries: readonly Entry[] = [
  { view: "overview", title: "Overview", path: "/" },
  { view: "receipts", title: "Receipts", path: "/receipts" },
  { view: "runs", title: "Runs", path: "/runs", live_only: true },
  { view: "curve", title: "Curve", path: "/curve" },
  { view: "compare", title: "Compare", path: "/compare" },
  { view: "trends", title: "Trends", path: "/trends", live_only: true },
  { view: "schedules", title: "Schedules", path: "/schedules", live_only: true },
  { view: "machines", title: "Machines", path: "/machines", live_only: true },
  { view: "playground", title: "Playground", path: "/playground/", live_only: true },
];

export interface Masthead {
  /** The view that is shown. */
  current: string | undefined;
  /** Whether a server that can start runs is behind the page. */
  live: boolean;
  href: (path: string) => string;
  theme: Theme;
  choose: (theme: Theme) => void;
}

export function masthead({ current, live, href, theme, choose }: Masthead): TemplateResult {
  const next = themes[(themes.indexOf(theme) + 1) % themes.length]!;
  return html`<header class="masthead">
    <div class="masthead-inner">
      <a class="brand" href=${href("/")}
        ><svg class="brand-mark" viewBox="0 0 32 32" aria-hidden="true">
          <circle cx="16" cy="16" r="15" />
          <path d="M9 22 L16 8 L23 22 M12 17.5 h8" /></svg
        >Assay</a
      >
      <nav aria-label="Views">
        <ul>
          ${entries
            .filter((entry) => live || entry.live_only !== true)
            .map(
              (entry) =>
                html`<li>
                  <a
                    href=${href(entry.path)}
                    target=${entry.view === "playground" ? "_self" : nothing}
                    aria-current=${entry.view === current ? "page" : nothing}
                    >${entry.title}</a
                  >
                </li>`,
            )}
        </ul>
      </nav>
      <button class="theme" @click=${() => choose(next)}>Theme: ${theme}</button>
    </div>
  </header>`;
}
