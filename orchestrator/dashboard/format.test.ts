import { describe, expect, it } from "vitest";
import { absent, ago, byName, distinctNames, duration, flops, moment, percent, ratio, speedupWords } from "./format";

describe("formats", () => {
  it("choose the unit that keeps a number readable", () => {
    expect(duration(0.0123)).toBe("12.3 µs");
    expect(duration(137.1)).toBe("137 ms");
    expect(duration(1462.5)).toBe("1.46 s");
    expect(duration(90_000)).toBe("1.5 min");
    expect(flops(26.3e9)).toBe("26.3 GFLOP");
    expect(flops(1.499e12)).toBe("1.50 TFLOP");
    expect(ratio(10.67)).toBe("10.7×");
    expect(percent(0.0472)).toBe("4.72 %");
    expect(percent(1e-7)).toBe("1.0e-5 %");
    expect(percent(0)).toBe("0.00 %");
  });

  it("keep three digits of what is smaller than one", () => {
    expect(ratio(0.011_42)).toBe("0.0114×");
    expect(percent(0.000_18)).toBe("0.0180 %");
  });

  it("say in words which of two is faster", () => {
    expect(speedupWords(9.312, "wasm-simd-mt", "webgpu")).toBe("webgpu trained 9.31 times as fast as wasm-simd-mt");
    expect(speedupWords(0.0125, "wasm-simd-mt", "webgpu")).toBe("webgpu took 80.0 times as long as wasm-simd-mt");
  });

  it("say that a value is absent and never invent one", () => {
    for (const format of [duration, flops, ratio, percent]) {
      expect(format(undefined)).toBe(absent);
      expect(format(Number.NaN)).toBe(absent);
    }
    expect(moment("not a date")).toBe(absent);
    expect(ago(undefined)).toBe(absent);
  });

  it("tell how long ago something was until the date says more", () => {
    const now = new Date("2026-11-30T12:00:00Z");
    expect(ago("2026-11-30T11:59:40Z", now)).toBe("just now");
    expect(ago("2026-11-30T11:15:00Z", now)).toBe("45 min ago");
    expect(ago("2026-11-29T12:00:00Z", now)).toBe("24 h ago");
    expect(ago("2025-01-01T00:00:00Z", now)).toContain("2025");
  });
});

describe("machines", () => {
  it("are told apart by the beginning of their ids only where their names are the same", () => {
    const names = distinctNames([
      { machine_id: "aaaa1111", machine_name: "vm" },
      { machine_id: "bbbb2222", machine_name: "vm" },
      { machine_id: "cccc3333", machine_name: "bench" },
      { machine_id: "", machine_name: "" },
    ]);
    expect([...names.values()]).toEqual(["vm (aaaa)", "vm (bbbb)", "bench", "machine not stated"]);
  });

  it("are ordered as people count, the one without a name last", () => {
    const machines = ["bench-10", "bench-2", "", "studio"].map((name) => ({ id: name, name: name || "machine not stated" }));
    expect(machines.sort(byName).map(({ id }) => id)).toEqual(["bench-2", "bench-10", "studio", ""]);
  });
});
