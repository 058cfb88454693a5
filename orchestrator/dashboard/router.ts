// Addresses of views. The server answers every one of them with the same page; a static site keeps them behind "#".

export interface Route {
  view: string;
  /** The part of the path after the view's name, decoded: a receipt's or run's id. */
  id?: string;
  query: URLSearchParams;
}

export const views = ["overview", "runs", "receipts", "curve", "compare", "trends", "schedules", "machines"] as const;

/** Reads "/receipts/ID?x=y". An address of no view is "not-found". */
export function parseAddress(address: string): Route {
  const [path, search] = splitOnce(address, "?");
  const parts = path.split("/").filter((part) => part !== "");
  const query = new URLSearchParams(search);
  if (parts.length === 0) return { view: "overview", query };
  const view = parts[0]!;
  if (!(views as readonly string[]).includes(view) || parts.length > 2) return { view: "not-found", query };
  return parts[1] === undefined ? { view, query } : { view, id: decode(parts[1]), query };
}

/** "/receipts/ID?x=y" of a route; parameters that are absent or empty are left out. */
export function addressOf(view: string, id?: string, query: Record<string, string | undefined> = {}): string {
  const path = view === "overview" ? "/" : `/${view}${id === undefined ? "" : `/${encodeURIComponent(id)}`}`;
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined && value !== "") search.set(name, value);
  const text = search.toString();
  return text === "" ? path : `${path}?${text}`;
}

export interface Router {
  current(): Route;
  /** What goes into an href. */
  href(address: string): string;
  navigate(address: string, options?: { replace?: boolean }): void;
  /** Calls back after every change of address. */
  listen(changed: () => void): void;
}

/** Addresses in the path, for the server that answers all of them. */
export class PathRouter implements Router {
  private changed_: () => void = () => undefined;

  current(): Route {
    return parseAddress(location.pathname + location.search);
  }
  href(address: string): string {
    return address;
  }
  navigate(address: string, options: { replace?: boolean } = {}): void {
    if (options.replace === true) history.replaceState(null, "", address);
    else history.pushState(null, "", address);
    this.changed_();
  }
  listen(changed: () => void): void {
    this.changed_ = changed;
    window.addEventListener("popstate", changed);
    document.addEventListener("click", (event) => this.follow(event));
  }

  /** Links inside the dashboard change the view without loading the page again; all others are the browser's. */
  private follow(event: MouseEvent): void {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = event.composedPath().find((node): node is HTMLAnchorElement => node instanceof HTMLAnchorElement);
    if (link === undefined || link.target !== "" || link.hasAttribute("download") || link.origin !== location.origin) return;
    if (link.getAttribute("href")?.startsWith("#") === true) return;
    const address = link.pathname + link.search;
    if (parseAddress(address).view === "not-found") return;
    event.preventDefault();
    this.navigate(address);
  }
}

/** Addresses behind "#", for plain files published anywhere. */
export class HashRouter implements Router {
  private changed_: () => void = () => undefined;

  current(): Route {
    return parseAddress(location.hash.slice(1));
  }
  href(address: string): string {
    return `#${address}`;
  }
  navigate(address: string, options: { replace?: boolean } = {}): void {
    if (options.replace === true) history.replaceState(null, "", `#${address}`);
    else history.pushState(null, "", `#${address}`);
    this.changed_();
  }
  listen(changed: () => void): void {
    this.changed_ = changed;
    window.addEventListener("hashchange", changed);
    window.addEventListener("popstate", changed);
  }
}

function splitOnce(text: string, separator: string): [string, string] {
  const index = text.indexOf(separator);
  return index < 0 ? [text, ""] : [text.slice(0, index), text.slice(index + 1)];
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
