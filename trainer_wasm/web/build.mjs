#!/usr/bin/env node
// Builds the served tree: node trainer_wasm/web/build.mjs OUT_DIR
//
//   OUT/arm/          the page that the orchestrator drives
//   OUT/assets/       its scripts
//   OUT/shaders/      the WGSL files and kernels.json
//   OUT/playground/   training in the reader's own browser, with its own assets
//   OUT/dashboard/    the dashboard (served at /), with its own assets
//   OUT/site/         the static site's shell (see `assay site`)
//   OUT/wasm/         left alone: the trainer's build puts its modules there
//
// No page holds an inline script, and none asks anything of another origin.
import { cpSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";
import { buildApiPage } from "../../orchestrator/http/api_page.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const root = resolve(here, "../..");
const out = resolve(process.argv[2] ?? join(root, "build/web"));

/** What every page is built with; each one has its own root and its own idea of where it lies. */
const common = {
  configFile: false,
  logLevel: "warn",
  publicDir: false,
  build: {
    emptyOutDir: false,
    target: "es2022",
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    sourcemap: false,
    chunkSizeWarningLimit: 1000,
  },
  // The trainer's loader reads files under Node, in its tests; no page ever takes that branch.
  worker: { format: "es", rollupOptions: { external: [/^node:/] } },
};

function clear(...names) {
  for (const name of names) rmSync(join(out, name), { recursive: true, force: true });
}

async function buildArmPage() {
  clear("arm", "assets");
  await build({
    ...common,
    root: here,
    base: "./",
    build: { ...common.build, outDir: out, rollupOptions: { input: join(here, "arm/index.html") } },
  });
  cpSync(join(here, "favicon.svg"), join(out, "favicon.svg"));
}

/** Apart from the arm's page, so that nothing of it counts among what a measurement loads. */
async function buildPlayground() {
  clear("playground");
  await build({
    ...common,
    root: join(here, "playground"),
    base: "/playground/",
    build: { ...common.build, outDir: join(out, "playground") },
  });
}

/** `base` is where the built files will lie: absolute for the server's deep links, relative for a static site. */
async function buildDashboard(name, base, mode) {
  const folder = join(root, "orchestrator/dashboard");
  clear(name);
  await build({
    ...common,
    root: folder,
    base,
    mode,
    build: { ...common.build, outDir: join(out, name) },
  });
}

function copyShaders() {
  const folder = join(root, "shaders");
  clear("shaders");
  mkdirSync(join(out, "shaders"), { recursive: true });
  for (const name of readdirSync(folder)) {
    if (name.endsWith(".wgsl") || name === "kernels.json") cpSync(join(folder, name), join(out, "shaders", name));
  }
}

mkdirSync(out, { recursive: true });
await buildArmPage();
await buildPlayground();
await buildDashboard("dashboard", "/dashboard/", "production");
await buildDashboard("site", "./", "site");
copyShaders();
buildApiPage(out);
console.log(`page: built into ${out}`);
