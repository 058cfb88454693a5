#!/usr/bin/env node
// Writes the wire types of the pages from protocols/schemas: node orchestrator/dashboard/generate_types.mjs
// They are made before every typecheck and kept out of the repository: only the compiler reads them, builds and tests drop types.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { compile } from "json-schema-to-typescript";

const here = dirname(fileURLToPath(import.meta.url));
const schemas = resolve(here, "../../protocols/schemas");

/** Schema by the file that it becomes. */
export const generated = { "receipt_schema.ts": "receipt" };

export async function typesOf(schema) {
  const parsed = JSON.parse(readFileSync(join(schemas, `${schema}.schema.json`), "utf8"));
  return compile(parsed, schema, {
    additionalProperties: false,
    bannerComment: `// Generated from protocols/schemas/${schema}.schema.json by generate_types.mjs: change the schema, not this file.`,
    enableConstEnums: false,
    ignoreMinAndMaxItems: true,
    unreachableDefinitions: false,
    format: false,
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const folder = join(here, "data/generated");
  mkdirSync(folder, { recursive: true });
  for (const [file, schema] of Object.entries(generated)) writeFileSync(join(folder, file), await typesOf(schema));
}
