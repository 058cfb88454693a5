// Launch, open the isolated page, hold a WebGPU device, close: ours and Playwright's in turn, with the same binary and the
// same switches. Then the time from a trigger to the first warm-up step of a run, through the service.
//   node tools/bench/launch/compare.mjs BIN_FOLDER [--rounds 9] BROWSER...
import { spawn, execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { chromium } from "playwright-core";

const PAGE = `<!doctype html><meta charset="utf-8"><title>bench</title>
<script>addEventListener("load", () => globalThis.assayEvent?.("loaded"));</script>`;
const HOLD_DEVICE = `(async () => {
  globalThis.held = await (await navigator.gpu.requestAdapter({ powerPreference: "high-performance" })).requestDevice();
  return crossOriginIsolated ? "held" : "not isolated";
})()`;
const PARTS = ["launch", "page", "device", "close"];

const { values, positionals } = parseArgs({ allowPositionals: true, options: { rounds: { type: "string", default: "9" } } });
const [programs, ...browsers] = positionals;
const rounds = Number(values.rounds);

const median = (numbers) => {
  const sorted = [...numbers].sort((a, b) => a - b);
  return (sorted[Math.floor((sorted.length - 1) / 2)] + sorted[Math.ceil((sorted.length - 1) / 2)]) / 2;
};
const total = (times) => PARTS.reduce((sum, part) => sum + times[part], 0);

function serveIsolatedPage() {
  const server = createServer((_, response) => {
    response.writeHead(200, {
      "Content-Type": "text/html; charset=utf-8",
      "Cross-Origin-Opener-Policy": "same-origin",
      "Cross-Origin-Embedder-Policy": "require-corp",
    });
    response.end(PAGE);
  });
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
}

/** Our cycles run in one process that waits for a line before each. */
function startOurs(browser, url, home) {
  const child = spawn(join(programs, "assay_launch_cycles"), [browser, url, home], { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async cycle() {
      child.stdin.write("\n");
      const { value, done } = await lines.next();
      if (done) throw new Error("our cycle failed");
      return JSON.parse(value);
    },
    end: () => child.stdin.end(),
  };
}

async function playwrightCycle(executablePath, switches, url, home) {
  const at = [performance.now()];
  const profile = mkdtempSync(join(home, "playwright-"));
  const browser = await chromium.launch({
    executablePath,
    ignoreDefaultArgs: true,
    args: [...switches, `--user-data-dir=${profile}`],
  });
  at.push(performance.now());
  const page = await browser.newPage();
  await page.goto(url);
  at.push(performance.now());
  const held = await page.evaluate(HOLD_DEVICE);
  if (held !== "held") throw new Error(`Playwright's page is ${held}`);
  at.push(performance.now());
  await browser.close();
  rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  at.push(performance.now());
  return Object.fromEntries(PARTS.map((part, index) => [part, at[index + 1] - at[index]]));
}

function row(name, samples) {
  const cells = PARTS.map((part) => median(samples.map((times) => times[part])).toFixed(0).padStart(8));
  const all = samples.map(total);
  const range = `${Math.min(...all).toFixed(0)}-${Math.max(...all).toFixed(0)}`;
  console.log(`  ${name.padEnd(12)}${cells.join("")}${median(all).toFixed(0).padStart(8)}   ${range}`);
  return median(all);
}

async function compareCycles(browser, url, home) {
  const switches = execFileSync(join(programs, "assay_launch_cycles"), [browser], { encoding: "utf8" }).trim().split("\n");
  const ours = startOurs(browser, url, home);
  const samples = { ours: [], playwright: [] };
  // The first round warms the disk cache for both; the order alternates, so that neither always runs in the other's wake.
  for (let round = -1; round < rounds; ++round) {
    for (const who of round % 2 === 0 ? ["ours", "playwright"] : ["playwright", "ours"]) {
      const times = who === "ours" ? await ours.cycle() : await playwrightCycle(browser, switches, url, home);
      if (round >= 0) samples[who].push(times);
    }
  }
  ours.end();
  console.log(`\n${basename(browser)}: medians of ${rounds} in ms, taken in turn`);
  console.log(`  ${"".padEnd(12)}${[...PARTS, "total"].map((part) => part.padStart(8)).join("")}   range of totals`);
  const mine = row("ours", samples.ours);
  const theirs = row("playwright", samples.playwright);
  console.log(`  ours / playwright = ${(mine / theirs).toFixed(2)}`);
  return { beforeClose: median(samples.ours.map((times) => total(times) - times.close)), ratio: mine / theirs };
}

async function startService(browser, home) {
  const child = spawn(join(programs, "assay"), ["serve", "--listen", "127.0.0.1:0", "--home", home, "--browser", browser], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const { value } = await createInterface({ input: child.stdout })[Symbol.asyncIterator]().next();
  const ended = new Promise((resolve) => child.once("exit", resolve));
  return { origin: /http:\/\/[0-9.]+:\d+/.exec(value)[0], stop: () => (child.kill("SIGTERM"), ended) };
}

/** Milliseconds from the request to the first warm-up step that the run's watcher sees; waits for the run's end. */
async function triggerToWarmup(origin, arms) {
  const request = {
    preset: "smoke", steps: 1, warmup: 1, arms, randomise_order: false, policy: "any", environment_policy: "none", allow_unqualified: true,
  };
  const began = performance.now();
  const posted = await fetch(`${origin}/api/v1/runs`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(request),
  });
  const { id } = await posted.json();
  const events = await fetch(`${origin}/api/v1/runs/${id}/events`);
  let seen = "";
  let first;
  for await (const chunk of events.body.pipeThrough(new TextDecoderStream())) {
    seen += chunk;
    if (first === undefined && /event: steps/.test(seen)) first = performance.now() - began;
    if (/event: done/.test(seen)) break;
  }
  if (first === undefined) throw new Error(`run ${id} had no step: ${seen.slice(-500)}`);
  return first;
}

async function compareTrigger(browser, home, beforeClose) {
  const service = await startService(browser, home);
  try {
    for (const arms of [["wasm-simd-mt", "webgpu"], ["webgpu", "wasm-simd-mt"]]) {
      const times = [];
      for (let round = -1; round < Math.min(rounds, 5); ++round) {
        const time = await triggerToWarmup(service.origin, arms);
        if (round >= 0) times.push(time);
      }
      const middle = median(times);
      console.log(
        `  trigger to the first warm-up step of ${arms[0].padEnd(12)} ${middle.toFixed(0).padStart(5)} ms, ` +
          `${(middle - beforeClose).toFixed(0)} ms beyond launch, page and device (at most 1200 wanted)`,
      );
    }
  } finally {
    await service.stop();
  }
}

const home = mkdtempSync(join(tmpdir(), "assay-launch-"));
const server = await serveIsolatedPage();
try {
  for (const browser of browsers) {
    const { beforeClose } = await compareCycles(browser, `http://127.0.0.1:${server.address().port}/`, home);
    await compareTrigger(browser, home, beforeClose);
  }
} finally {
  server.close();
  rmSync(home, { recursive: true, force: true });
}
