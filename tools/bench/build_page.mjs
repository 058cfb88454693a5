#!/usr/bin/env node
// Builds a bench page: node tools/bench/build_page.mjs FOLDER OUT_DIR. The caller adds OUT/wasm/ and, for WebGPU, OUT/shaders/.
import { resolve } from "node:path";
import { build } from "vite";

const [folder, out] = process.argv.slice(2);
await build({
  configFile: false,
  root: resolve(folder),
  base: "./",
  logLevel: "warn",
  publicDir: false,
  build: { outDir: resolve(out), emptyOutDir: true, target: "es2022", modulePreload: { polyfill: false } },
  worker: { format: "es", rollupOptions: { external: [/^node:/] } },
});
