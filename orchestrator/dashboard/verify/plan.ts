// The order in which blocks run, from the seed (orchestrator/schedule/abba_plan.cpp): fixed before the machine is seen.

import { SeededRandom } from "./statistics";

export const default_seed = 42n;

/** Four letters a quadruple. One quadruple is always ABBA; of more, each pair holds one ABBA and one BAAB, in drawn order. */
export function makePlan(quadruples: number, seed: bigint, randomise: boolean): ("A" | "B")[] {
  const random = new SeededRandom(seed ^ 0x41626261506c616en);
  let abba_first = true;
  return Array.from({ length: quadruples }, (_, index) => {
    if (index % 2 === 0 && randomise && quadruples > 1) abba_first = random.below(2) === 0;
    const is_abba = !randomise || (index % 2 === 0) === abba_first;
    return is_abba ? (["A", "B", "B", "A"] as const) : (["B", "A", "A", "B"] as const);
  }).flat();
}

/** A request's seed: a number up to 2^53 or decimal digits; undefined for anything else. */
export function seedOf(seed: unknown): bigint | undefined {
  if (seed === undefined) return default_seed;
  if (typeof seed === "number" && Number.isSafeInteger(seed) && seed >= 0) return BigInt(seed);
  if (typeof seed === "string" && /^\d{1,20}$/.test(seed)) return BigInt(seed);
  return undefined;
}
