import { defineConfig } from "vitest/config";

// Tests that drive a real Chromium. One file at a time: two browsers that train at once would disturb each other.
export default defineConfig({
  test: {
    include: ["tests/browser/**/*.test.ts"],
    environment: "node",
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
