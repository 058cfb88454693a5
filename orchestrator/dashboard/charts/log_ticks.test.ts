import { describe, expect, it } from "vitest";
import { logDomain, logTicks } from "./log_ticks";

describe("logarithmic ticks", () => {
  it("stand at 1, 2 and 5 inside the domain", () => {
    expect(logTicks([18, 330])).toEqual([20, 50, 100, 200]);
    expect(logTicks([0.15, 1.1])).toEqual([0.2, 0.5, 1]);
  });
  it("are powers of ten alone over a long range", () => {
    expect(logTicks([1, 1e6], 9)).toEqual([1, 10, 100, 1_000, 10_000, 100_000, 1_000_000]);
  });
  it("have a domain even without data", () => {
    expect(logDomain([])).toEqual([1, 10]);
    expect(logDomain([0, Number.NaN, 5])[0]).toBeLessThan(5);
  });
});
