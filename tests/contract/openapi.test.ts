// protocols/openapi.yaml holds together, and its examples are what their schemas say.

import { readFileSync } from "node:fs";
import Ajv2020 from "ajv/dist/2020";
import { load } from "js-yaml";
import { describe, expect, it } from "vitest";

interface Media {
  schema?: object;
  example?: unknown;
  examples?: Record<string, { value: unknown }>;
}
interface Operation {
  operationId: string;
  summary?: string;
  tags?: string[];
  parameters?: { $ref?: string; name?: string; in?: string }[];
  requestBody?: { content: Record<string, Media> };
  responses: Record<string, { $ref?: string; description?: string; content?: Record<string, Media> }>;
}
interface Api {
  openapi: string;
  tags: { name: string }[];
  paths: Record<string, Record<string, unknown> & { parameters?: Operation["parameters"] }>;
  components: Record<string, Record<string, unknown>>;
}

const api = load(readFileSync(new URL("../../protocols/openapi.yaml", import.meta.url), "utf8")) as Api;
const operations = Object.entries(api.paths).flatMap(([path, item]) =>
  ["get", "post", "put", "delete"].flatMap((method) => {
    const operation = item[method] as Operation | undefined;
    return operation === undefined ? [] : [{ path, method, operation, shared: item.parameters ?? [] }];
  }),
);

function references(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(references);
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, each]) => (key === "$ref" ? [String(each)] : references(each)));
}

function resolve(reference: string): unknown {
  return reference
    .replace(/^#\//, "")
    .split("/")
    .reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], api);
}

const ajv = new Ajv2020({ strict: false, validateFormats: false });
ajv.addSchema({ $id: "https://assay.invalid/api", components: api.components });

function checker(schema: object): (value: unknown) => string {
  const text = JSON.stringify(schema).replaceAll('"#/', '"https://assay.invalid/api#/');
  const validate = ajv.compile(JSON.parse(text) as object);
  return (value) => (validate(value) ? "" : ajv.errorsText(validate.errors));
}

describe("the API's description", () => {
  it("is OpenAPI 3.1 and every reference leads somewhere", () => {
    expect(api.openapi).toMatch(/^3\.1\./);
    for (const reference of references(api)) expect(resolve(reference), reference).toBeDefined();
  });

  it("uses everything that it defines", () => {
    const used = new Set(references(api));
    for (const kind of ["schemas", "parameters", "responses"])
      for (const name of Object.keys(api.components[kind]!)) expect(used).toContain(`#/components/${kind}/${name}`);
  });

  it("names every operation once, with a known tag and a summary", () => {
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    const tags = api.tags.map((tag) => tag.name);
    for (const { operation } of operations) {
      expect(tags).toContain(operation.tags?.[0]);
      expect(operation.summary).toBeTruthy();
      for (const response of Object.values(operation.responses)) expect(response.$ref ?? response.description).toBeTruthy();
    }
  });

  it("declares exactly the parameters that stand in each path", () => {
    for (const { path, operation, shared } of operations) {
      const wanted = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
      const declared = [...shared, ...(operation.parameters ?? [])]
        .map((parameter) => (parameter.$ref ? (resolve(parameter.$ref) as { name: string; in: string }) : parameter))
        .filter((parameter) => parameter.in === "path")
        .map((parameter) => parameter.name);
      expect(declared, path).toEqual(wanted);
    }
  });

  it("has examples that fit their schemas, and schemas that refuse what does not fit", () => {
    let checked = 0;
    for (const { operation } of operations) {
      const responses = Object.values(operation.responses).map((response) =>
        response.$ref ? (resolve(response.$ref) as Operation["responses"][string]) : response,
      );
      const media = [operation.requestBody, ...responses].flatMap((each) => Object.values(each?.content ?? {}));
      for (const each of media) {
        const check = each.schema === undefined ? () => "no schema" : checker(each.schema);
        const values = [...(each.example === undefined ? [] : [each.example]), ...Object.values(each.examples ?? {}).map((one) => one.value)];
        for (const value of values) {
          expect(check(value), `${operation.operationId}: ${JSON.stringify(value)}`).toBe("");
          checked += 1;
        }
      }
    }
    expect(checked).toBeGreaterThan(5);
    expect(checker({ $ref: "#/components/schemas/RunRequest" })({ preset: "smoke", steps: 0 })).not.toBe("");
    expect(checker({ $ref: "#/components/schemas/Schedule" })({ name: "x" })).not.toBe("");
  }, 60_000);
});
