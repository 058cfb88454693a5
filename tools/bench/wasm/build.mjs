#!/usr/bin/env node
// Builds the bench page: node tools/bench/wasm/build.mjs OUT_DIR. The caller adds OUT/wasm/.
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";

const here = dirname(fileURLToPath(import.meta.url));
await build({
  configFile: false,
  root: here,
  base: "./",
  logLevel: "warn",
  publicDir: false,
  build: { outDir: resolve(process.argv[2]), emptyOutDir: true, target: "es2022", modulePreload: { polyfill: false } },
  worker: { format: "es", rollupOptions: { external: [/^node:/] } },
});
