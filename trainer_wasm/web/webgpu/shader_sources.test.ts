// What no kernel may hold, because it differs from one GPU to the next or from one run to the next.

import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const folder = new URL("../../../shaders/", import.meta.url);
const sources = readdirSync(folder)
  .filter((name) => name.endsWith(".wgsl"))
  .map((name) => ({ name, code: readFileSync(new URL(name, folder), "utf8").replace(/\/\/.*$/gm, "") }));

/** The argument of each call of a function, up to the bracket that closes it. */
function argumentsOf(code: string, name: string): string[] {
  return [...code.matchAll(new RegExp(`\\b${name}\\(`, "g"))].map(({ index, 0: call }) => {
    let depth = 1;
    let end = index + call.length;
    for (; depth > 0; end += 1) depth += code[end] === "(" ? 1 : code[end] === ")" ? -1 : 0;
    return code.slice(index + call.length, end - 1);
  });
}

describe.each(sources)("$name", ({ code }) => {
  it("bounds what it takes a hyperbolic tangent of, which is NaN for large arguments on some GPUs", () => {
    for (const argument of argumentsOf(code, "tanh")) expect(argument).toMatch(/^clamp\(\w+, -15\.0, 15\.0\)$/);
    // The fast form of the same function: exp(2u) with u bounded where it is made.
    for (const argument of argumentsOf(code, "exp").filter((text) => /\bu\b/.test(text))) {
      expect(argument).toBe("2.0 * u");
      for (const [line] of code.matchAll(/let u = .*;/g)) expect(line).toMatch(/^let u = clamp\(.*, vec4f\(-15\.0\), vec4f\(15\.0\)\);$/);
    }
  });

  it("adds up in a fixed order: no atomic operations", () => {
    expect(code).not.toMatch(/\batomic/);
  });

  it("learns a subgroup's size from the GPU wherever it uses subgroups", () => {
    const uses = /\bsubgroup(?!s\b|_size\b|_invocation_id\b)\w*\(|\bquad\w+\(/.test(code);
    if (uses) expect(code).toMatch(/@builtin\(subgroup_size\) size: u32/);
    expect(code).not.toMatch(/@subgroup_size\(/);
    expect(code).not.toMatch(/\blane (?:[<>]=?|==|%|&|\/) (?:4|8|16|32|64)u\b/);
  });
});
