// Canonical JSON by RFC 8785 (JCS): what is signed must have exactly one spelling.

/**
 * The canonical text of a JSON value. JavaScript's own number and string formatting is the one the RFC prescribes;
 * members are sorted by their names' UTF-16 code units.
 * @throws TypeError for what JSON cannot hold: a number that is not finite, a lone surrogate
 */
export function canonicalJson(value: unknown): string {
  if (value === null || typeof value === "boolean") return String(value);
  if (typeof value === "number") {
    if (!Number.isFinite(value)) throw new TypeError(`${value} has no JSON form`);
    return JSON.stringify(value);
  }
  if (typeof value === "string") return canonicalString(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value === "object") {
    const members = Object.keys(value)
      .sort(byCodeUnits)
      .map((name) => `${canonicalString(name)}:${canonicalJson((value as Record<string, unknown>)[name])}`);
    return `{${members.join(",")}}`;
  }
  throw new TypeError(`a ${typeof value} has no JSON form`);
}

function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function canonicalString(text: string): string {
  const lone = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/;
  if (lone.test(text)) throw new TypeError("a lone surrogate has no JSON form");
  return JSON.stringify(text);
}
