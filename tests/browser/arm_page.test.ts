// The arm page without any arm: what it says of itself, and how it fails. Needs no trainer module.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Browser } from "playwright-core";
import { ArmSession, armConfig, servedTree } from "./support/arm_session";
import { launchChromium } from "./support/chromium";
import { serveFolders, type StaticServer } from "./support/static_server";

let server: StaticServer;
let with_adapter: Browser;
let without_adapter: Browser;

beforeAll(async () => {
  server = await serveFolders({ "/": servedTree(false) });
  with_adapter = await launchChromium({ webgpu: true });
  without_adapter = await launchChromium({ webgpu: false });
});
afterAll(async () => {
  await with_adapter?.close();
  await without_adapter?.close();
  await server?.close();
});

describe("arm page", () => {
  it("says ready once, isolated, visible, with a clock of at most 5 us and the software adapter named as one", async () => {
    const session = await ArmSession.open(with_adapter, server.origin);
    const [ready] = session.all("ready");
    expect(ready!.page).toMatchObject({ cross_origin_isolated: true, visibility: "visible", webgpu: true });
    expect(ready!.page.timer_quantum_us).toBeGreaterThan(0);
    expect(ready!.page.timer_quantum_us).toBeLessThanOrEqual(5.1);
    expect(ready!.adapter).toMatchObject({ vendor: "google", architecture: "swiftshader", is_fallback: true });
    expect(ready!.adapter!.limits["maxStorageBufferBindingSize"]).toBeGreaterThan(0);
    expect(ready!.arms).toEqual(expect.arrayContaining(["wasm-scalar", "wasm-simd-mt", "webgpu"]));
    expect(await session.facts()).toMatchObject({ adapter: { vendor: "google" }, page: { cross_origin_isolated: true } });
    expect(session.events).toHaveLength(1);
    expect(session.console_errors).toEqual([]);
    await session.close();
  });

  it("leaves the adapter out where there is none, and refuses the webgpu arm by name", async () => {
    const session = await ArmSession.open(without_adapter, server.origin);
    const [ready] = session.all("ready");
    expect(ready).not.toHaveProperty("adapter");
    expect(ready!.arms).not.toContain("webgpu");
    expect(await session.prepare(armConfig("webgpu"))).toBe(false);
    expect(session.all("error")).toMatchObject([{ code: "adapter-unavailable", phase: "prepare" }]);
    await session.close();
  });

  it("refuses an arm that no page hosts, a foreign corpus and a wrong digest, each as one typed error", async () => {
    const session = await ArmSession.open(without_adapter, server.origin);
    expect(await session.prepare(armConfig("native"))).toBe(false);
    const sha256 = "0".repeat(64);
    expect(await session.prepare(armConfig("wasm-simd-mt", { corpus: { url: "http://127.0.0.2/x", sha256 } }))).toBe(false);
    expect(await session.prepare(armConfig("wasm-simd-mt", { corpus: { url: "/favicon.svg", sha256 } }))).toBe(false);
    expect(session.all("error").map((event) => event.code)).toEqual(["unsupported", "bad-config", "corpus-mismatch"]);
    await session.close();
  });

  it("turns an unhandled rejection of the page into one error event", async () => {
    const session = await ArmSession.open(without_adapter, server.origin);
    await session.page.evaluate(() => {
      void Promise.reject(new Error("nobody looks at this"));
    });
    const event = await session.waitFor((candidate) => candidate.event === "error");
    expect(event).toMatchObject({ code: "internal", message: "Error: nobody looks at this" });
    await session.close();
  });
});
