// Ticks of a logarithmic axis at 1, 2 and 5 times powers of ten: enough to read by, few enough to see through.

/** The range of `values` with a margin on both sides, for an axis that need not begin at a power of ten. */
export function logDomain(values: readonly number[], margin = 0.12): [number, number] {
  const positive = values.filter((value) => value > 0 && Number.isFinite(value));
  if (positive.length === 0) return [1, 10];
  const low = positive.reduce((a, b) => Math.min(a, b));
  const high = positive.reduce((a, b) => Math.max(a, b));
  return [low * (1 - margin), high * (1 + margin)];
}

/** The 1-2-5 ticks inside a domain; powers of ten alone where those would be more than `most`. */
export function logTicks([low, high]: [number, number], most = 9): number[] {
  const between = (steps: readonly number[]): number[] => {
    const ticks: number[] = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power += 1) {
      for (const step of steps) {
        // Rounded to what the power of ten can carry, so that 0.2 is 0.2.
        const tick = Number((step * 10 ** power).toPrecision(12));
        if (tick >= low && tick <= high) ticks.push(tick);
      }
    }
    return ticks;
  };
  const fine = between([1, 2, 5]);
  return fine.length <= most ? fine : between([1]);
}

/** The words of a tick, for an axis' `text`: its `tickFormat` leaves out the fives of a long logarithmic axis. */
export function tickText(value: number): string {
  return String(value);
}
