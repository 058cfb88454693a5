#!/usr/bin/env node
// Builds the page of one step: node tools/bench/statistics/build.mjs OUT_DIR. The caller adds OUT/wasm/.
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";

await build({
  configFile: false,
  root: dirname(fileURLToPath(import.meta.url)),
  base: "./",
  logLevel: "warn",
  publicDir: false,
  build: { outDir: resolve(process.argv[2]), emptyOutDir: true, target: "es2022", modulePreload: { polyfill: false }, rollupOptions: { external: [/^node:/] } },
});
