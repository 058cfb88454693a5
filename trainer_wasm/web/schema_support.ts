// Test support: validators for the schemas in protocols/schemas.

import { readFileSync } from "node:fs";
import Ajv2020, { type ValidateFunction } from "ajv/dist/2020";

const folder = new URL("../../protocols/schemas/", import.meta.url);

export function ajvFor(file: string): ValidateFunction {
  const ajv = new Ajv2020({ allErrors: true, strict: true, allowUnionTypes: true, strictRequired: false });
  return ajv.compile(JSON.parse(readFileSync(new URL(file, folder), "utf8")) as object);
}
