// Finds and starts the Chromium that the tests drive.

import { existsSync } from "node:fs";
import { chromium, type Browser } from "playwright-core";

const known_places = [
  "/usr/lib/chromium/chromium-headless-shell",
  "/usr/bin/chromium-headless-shell",
  "/usr/bin/chromium",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

/** The executable named by CHROMIUM, or the first in a known place. */
export function findChromium(): string {
  const named = process.env["CHROMIUM"];
  const found = named ?? known_places.find((place) => existsSync(place));
  if (found === undefined || !existsSync(found)) {
    throw new Error(`no Chromium at ${named ?? known_places.join(", ")}: install chromium or set CHROMIUM`);
  }
  return found;
}

/**
 * `webgpu` lets the software adapter stand in for a GPU; without it the page sees no adapter at all. `names` are host names
 * that lead to this machine: unlike "localhost" they are no secure context over plain http.
 */
export function launchChromium(options: { webgpu: boolean; names?: string[] }): Promise<Browser> {
  const switches = [
    // The tests may run as root, where Chrome refuses its sandbox.
    "--no-sandbox",
    // Nothing of the browser's own may reach out or take processor time.
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
  ];
  if (options.webgpu) switches.push("--enable-unsafe-webgpu");
  if (options.names !== undefined) switches.push(`--host-resolver-rules=${options.names.map((name) => `MAP ${name} 127.0.0.1`).join(",")}`);
  return chromium.launch({ executablePath: findChromium(), headless: true, args: switches });
}
