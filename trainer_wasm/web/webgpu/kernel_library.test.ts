import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { halfSource } from "./kernel_library";

const folder = new URL("../../../shaders/", import.meta.url);
const sources = readdirSync(folder)
  .filter((name) => name.endsWith(".wgsl"))
  .map((name) => ({ name, code: readFileSync(new URL(name, folder), "utf8") }));
const aliased = (code: string) => [...code.matchAll(/^alias (\w+)_vector = vec4f;$/gm)].map(([, binding]) => binding!);
const with_halves = sources.filter(({ code }) => aliased(code).length > 0);

describe("the half-precision form of a kernel", () => {
  it("exists for every kernel of the forward pass and for those that read what it keeps", () => {
    expect(with_halves.map(({ name }) => name)).toEqual([
      "attention_backward.wgsl", "attention_forward.wgsl", "copy_parameters.wgsl", "gemm_4x4.wgsl", "gemm_8x8.wgsl",
      "layer_norm_forward.wgsl", "layer_norm_forward_subgroups.wgsl",
    ]);
  });

  for (const { name, code } of with_halves) {
    const bindings = aliased(code);

    it(`differs from the file only in the alias lines and in the first line: ${name}`, () => {
      const lines = halfSource(code, bindings).split("\n");
      expect(lines[0]).toBe("enable f16;");
      const original = code.split("\n");
      const changed = lines.slice(1).filter((line, index) => line !== original[index]);
      expect(changed).toEqual(bindings.map((binding) => `alias ${binding}_vector = vec4h;`));
      expect(lines).toHaveLength(original.length + 1);
    });

    it(`holds each such buffer as its alias, and converts at every load and store: ${name}`, () => {
      for (const binding of bindings) {
        expect(code.split(`${binding}: array<${binding}_vector>;`), binding).toHaveLength(2);
        const accesses = [...code.matchAll(new RegExp(`^.*(?<![\\w.])${binding}\\[.*$`, "gm"))].map(([line]) => line!).filter((line) => !line.trim().startsWith("//"));
        expect(accesses.length, binding).toBeGreaterThan(0);
        for (const line of accesses) {
          const before = line.slice(0, line.search(new RegExp(`(?<![\\w.])${binding}\\[`)));
          const is_store = /^\s*(?:if \([^{]*\{ )?(?:for \([^{]*\{ )?$/.test(before);
          if (is_store) expect(line).toMatch(new RegExp(`${binding}\\[[^=]*\\] = ${binding}_vector\\(`));
          else expect(before.endsWith("vec4f("), line).toBe(true);
        }
      }
    });
  }

  it("leaves a kernel alone whose buffers are all f32", () => {
    const { code } = with_halves[0]!;
    expect(halfSource(code, [])).toBe(code);
  });

  it("is refused where the file names no alias for the buffer", () => {
    expect(() => halfSource(with_halves[0]!.code, ["log_sum_exp"])).toThrow(/no half-precision form of its buffer log_sum_exp/);
  });
});
