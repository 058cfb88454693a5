import { defineConfig } from "vitest/config";

// The pure parts of the pages. What needs a browser has its own configuration: vitest.browser.config.ts.
export default defineConfig({
  test: {
    include: ["trainer_wasm/web/**/*.test.ts", "orchestrator/dashboard/**/*.test.ts", "tests/contract/**/*.test.ts"],
    environment: "node",
    pool: "threads",
    poolOptions: { threads: { maxThreads: 2, minThreads: 1 } },
  },
});
