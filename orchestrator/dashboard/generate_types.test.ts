import { describe, expect, it } from "vitest";
import { generated, typesOf } from "./generate_types.mjs";

describe("wire types", () => {
  it.each(Object.entries(generated))("%s says which schema it is from, and what may be absent", async (_file, schema) => {
    const text = await typesOf(schema);
    expect(text).toContain(`protocols/schemas/${schema}.schema.json`);
    expect(text).toContain("steps?: number");
  });
  it("know every verdict", async () => {
    const text = await typesOf("receipt");
    for (const verdict of ["verified", "unqualified", "refused", "inconclusive", "invalid", "failed"]) expect(text).toContain(`"${verdict}"`);
  });
});
