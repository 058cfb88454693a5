import { describe, expect, it } from "vitest";
import { ArmError } from "./arm";
import { loadCorpus, sha256Hex } from "./corpus";
import { describeFailure } from "./failure";
import { timerQuantumMicroseconds } from "./page_facts";
import { hostableArms, supportsSimd } from "./wasm_features";

const text = new TextEncoder().encode("abc");
const abc_sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
const answer = (): Promise<Response> => Promise.resolve(new Response(text));

describe("corpus", () => {
  it("hashes as FIPS 180-2 does its example", async () => {
    expect(await sha256Hex(text)).toBe(abc_sha256);
  });
  it("accepts bytes with the digest asked for", async () => {
    expect(await loadCorpus({ url: "/corpus/x", sha256: abc_sha256 }, "http://h/", answer)).toEqual(text);
  });
  it("refuses other bytes as a mismatch", async () => {
    const wrong = { url: "/corpus/x", sha256: "0".repeat(64) };
    await expect(loadCorpus(wrong, "http://h/", answer)).rejects.toMatchObject({ code: "corpus-mismatch" });
  });
  it("refuses another origin without asking it", async () => {
    const foreign = { url: "http://elsewhere/x", sha256: abc_sha256 };
    const never = (): Promise<Response> => Promise.reject(new Error("was asked"));
    await expect(loadCorpus(foreign, "http://h/", never)).rejects.toMatchObject({ code: "bad-config" });
  });
});

describe("timer quantum", () => {
  it("is the smallest tick of the clock", () => {
    let reading = 0;
    expect(timerQuantumMicroseconds(() => Math.floor(reading++ / 7) * 0.005)).toBeCloseTo(5, 5);
    reading = 0;
    expect(timerQuantumMicroseconds(() => Math.floor(reading++ / 7) * 0.1)).toBeCloseTo(100, 5);
  });
  it("is 0 for a clock that stands still, in bounded time", () => {
    expect(timerQuantumMicroseconds(() => 1, 1_000)).toBe(0);
  });
});

describe("failures", () => {
  it("keep the code of an arm's own error and call the rest internal", () => {
    expect(describeFailure(new ArmError("device-lost", "gone"))).toEqual({ code: "device-lost", message: "gone" });
    expect(describeFailure(new TypeError("x"))).toEqual({ code: "internal", message: "TypeError: x" });
    expect(describeFailure(new RangeError("could not allocate memory")).code).toBe("out-of-memory");
    expect(describeFailure("y".repeat(5_000)).message.length).toBeLessThan(2_100);
  });
});

describe("arms that the engine can host", () => {
  it("leave out what needs threads where memory cannot be shared, and GPU arms without an adapter", () => {
    expect(supportsSimd()).toBe(true);
    expect(hostableArms(false, false)).toEqual(["wasm-scalar", "wasm-simd"]);
    expect(hostableArms(true, false)).toContain("webgpu");
    expect(hostableArms(true, false)).not.toContain("webgpu-f16");
  });
});
