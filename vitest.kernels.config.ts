import { defineConfig } from "vitest/config";

// Tests that run every shader in a real Chromium.
export default defineConfig({
  test: {
    include: ["tests/kernels/**/*.test.ts"],
    environment: "node",
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
