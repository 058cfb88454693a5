// Light, dark or as the system has it: chosen by the reader, kept by the browser.

/** The event of the window after another theme was chosen. */
export const theme_changed = "assay-theme-changed";

export const themes = ["system", "light", "dark"] as const;
export type Theme = (typeof themes)[number];
const theme_key = "assay-theme";

/** The theme that was chosen on an earlier visit. */
export function readTheme(): Theme {
  try {
    const stored = localStorage.getItem(theme_key);
    return themes.find((theme) => theme === stored) ?? "system";
  } catch {
    return "system";
  }
}

/** Shows the page in this theme and keeps the choice. */
export function applyTheme(theme: Theme): void {
  if (theme === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme;
  window.dispatchEvent(new Event(theme_changed));
  try {
    localStorage.setItem(theme_key, theme);
  } catch {
    // Storage may be forbidden; the choice then lasts as long as the page.
  }
}
