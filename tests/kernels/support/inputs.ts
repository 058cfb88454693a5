// Deterministic numbers for the kernel tests, rounded to f32 so that both sides start from the same bits.

/** Values in [-1, 1) from a 32-bit xorshift. */
export function numbers(count: number, seed: number, scale = 1): number[] {
  let state = (seed * 2654435761 + 1) >>> 0 || 1;
  return Array.from({ length: count }, () => {
    state ^= state << 13;
    state >>>= 0;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return Math.fround((state / 2147483648 - 1) * scale);
  });
}

/** Skewed towards a few tokens, as text is; some tokens never occur. */
export function tokens(count: number, seed: number): number[] {
  return numbers(count, seed).map((v) => Math.floor(200 * v * v * v * v));
}

/** |got - wanted| over |wanted|, as vectors. */
export function relativeError(got: ArrayLike<number>, wanted: ArrayLike<number>): number {
  let difference = 0;
  let size = 0;
  for (let i = 0; i < wanted.length; i += 1) {
    difference += (got[i]! - wanted[i]!) ** 2;
    size += wanted[i]! ** 2;
  }
  return Math.sqrt(difference / Math.max(size, 1e-30));
}
