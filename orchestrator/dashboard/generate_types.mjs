#!/usr/bin/env node
// Writes the wire types of the pages from protocols/schemas: node orchestrator/dashboard/generate_types.mjs
// With --check it writes nothing and fails when a file is not what the schemas give.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { compile } from "json-schema-to-typescript";

const here = dirname(fileURLToPath(import.meta.url));
const schemas = resolve(here, "../../protocols/schemas");

/** Schema by the file that it becomes. */
export const generated = { "receipt_schema.ts": "receipt", "run_request_schema.ts": "run-request" };

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
  let stale = 0;
  for (const [file, schema] of Object.entries(generated)) {
    const path = join(here, "data/generated", file);
    const text = await typesOf(schema);
    if (!process.argv.includes("--check")) writeFileSync(path, text);
    else if (readFileSync(path, "utf8") !== text) {
      console.error(`${path} is not what its schema gives: run npm run types`);
      stale = 1;
    }
  }
  process.exitCode = stale;
}
