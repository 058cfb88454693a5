// Every example is what its folder says it is, by the schema that its name begins with.

import { readdirSync, readFileSync } from "node:fs";
import Ajv2020, { type ValidateFunction } from "ajv/dist/2020";
import { describe, expect, it } from "vitest";

const protocols = new URL("../../protocols/", import.meta.url);

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(new URL(path, protocols), "utf8"));
}

const schema_names = readdirSync(new URL("schemas/", protocols))
  .filter((file) => file.endsWith(".schema.json"))
  .map((file) => file.replace(/\.schema\.json$/, ""));

const validators = new Map<string, ValidateFunction>(
  schema_names.map((name) => {
    const ajv = new Ajv2020({ allErrors: true, strict: true, allowUnionTypes: true, strictRequired: false });
    return [name, ajv.compile(readJson(`schemas/${name}.schema.json`) as object)];
  }),
);

function examples(folder: "valid" | "invalid"): { file: string; schema: string }[] {
  return readdirSync(new URL(`examples/${folder}/`, protocols)).map((file) => ({ file, schema: file.split(".")[0]! }));
}

describe("examples", () => {
  it("have a schema each, and every schema has a valid and an invalid one", () => {
    for (const folder of ["valid", "invalid"] as const) {
      const used = new Set(examples(folder).map((example) => example.schema));
      expect([...used].filter((name) => !validators.has(name))).toEqual([]);
      expect(schema_names.filter((name) => !used.has(name))).toEqual([]);
    }
  });

  it.each(examples("valid"))("valid/$file satisfies its schema", ({ file, schema }) => {
    const validate = validators.get(schema)!;
    validate(readJson(`examples/valid/${file}`));
    expect(validate.errors ?? []).toEqual([]);
  });

  it.each(examples("invalid"))("invalid/$file does not satisfy its schema", ({ file, schema }) => {
    expect(validators.get(schema)!(readJson(`examples/invalid/${file}`))).toBe(false);
  });
});

describe("the receipt's schema", () => {
  const receipt = readJson("schemas/receipt.schema.json") as { $defs: Record<string, object> };

  it("holds the request's schema word for word", () => {
    const { $schema, $id, title, description, ...body } = readJson("schemas/run-request.schema.json") as Record<string, unknown>;
    expect([$schema, $id, title, description].every((text) => typeof text === "string")).toBe(true);
    expect(receipt.$defs["request"]).toEqual(body);
  });

  it("holds the adapter views' and the event's adapter word for word", () => {
    const views = readJson("schemas/adapter-views.schema.json") as { properties: object; $defs: Record<string, object> };
    const events = readJson("schemas/arm-event.schema.json") as { $defs: Record<string, object> };
    expect((receipt.$defs["adapter_views"] as { properties: object }).properties).toEqual(views.properties);
    for (const name of ["page_adapter", "devtools_adapter"]) expect(receipt.$defs[name]).toEqual(views.$defs[name]);
    expect(receipt.$defs["page_adapter"]).toEqual(events.$defs["adapter"]);
  });
});
