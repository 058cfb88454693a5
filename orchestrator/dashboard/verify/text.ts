// Numbers as the reasons of a verdict write them (orchestrator/analysis/text.cpp), so that a sentence can be checked.

/** The shortest text that reads back as the same number. */
export function exactText(value: number): string {
  if (Number.isNaN(value)) return "not a number";
  if (!Number.isFinite(value)) return "infinite";
  return String(value);
}

export function numberText(value: number, significant_digits: number): string {
  if (!Number.isFinite(value)) return exactText(value);
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e9))
    return value.toExponential(significant_digits - 1).replace(/e([+-])(\d)$/, "e$10$2");
  const decimals = size === 0 ? 0 : Math.max(significant_digits - 1 - Math.floor(Math.log10(size)), 0);
  return value.toFixed(decimals);
}

export function percentText(fraction: number): string {
  return Number.isFinite(fraction) ? `${numberText(fraction * 100, Math.abs(fraction) >= 1 ? 3 : 2)} %` : exactText(fraction);
}

/** Every number that stands in a text. */
export function numbersIn(text: string): number[] {
  return (text.match(/\d+(?:\.\d+)?(?:e[+-]?\d+)?/g) ?? []).map(Number);
}
