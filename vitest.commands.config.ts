import { defineConfig } from "vitest/config";

// The commands that read and write receipts, with the built program. No browser: files in, text and exit codes out.
export default defineConfig({
  test: {
    include: ["tests/commands/**/*.test.ts"],
    environment: "node",
    pool: "threads",
    poolOptions: { threads: { maxThreads: 2, minThreads: 1 } },
    testTimeout: 60_000,
  },
});
