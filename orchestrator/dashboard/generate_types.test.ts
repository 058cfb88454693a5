import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { generated, typesOf } from "./generate_types.mjs";

describe("wire types", () => {
  it.each(Object.entries(generated))("%s is what its schema gives", async (file, schema) => {
    const path = new URL(`./data/generated/${file}`, import.meta.url);
    expect(readFileSync(path, "utf8"), "run: npm run types").toBe(await typesOf(schema));
  });
});
