// Quantiles of Student's t distribution, for the 95 % interval over quadruples.

/** ln of the gamma function for x > 0: Lanczos' approximation (g = 7, nine terms), good to about 15 digits. */
function logGamma(x: number): number {
  const coefficients = [
    0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059, 12.507343278686905,
    -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
  ];
  const shifted = x - 1;
  const t = shifted + 7.5;
  const sum = coefficients.reduce((total, value, index) => (index === 0 ? value : total + value / (shifted + index)), 0);
  return 0.5 * Math.log(2 * Math.PI) + (shifted + 0.5) * Math.log(t) - t + Math.log(sum);
}

/** Regularised incomplete beta function I_x(a, b) by Lentz's continued fraction. */
function incompleteBeta(x: number, a: number, b: number): number {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - incompleteBeta(1 - x, b, a);
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log(1 - x)) / a;
  const tiny = 1e-300;
  let f = 1;
  let c = 1;
  let d = 0;
  for (let step = 0; step <= 500; step += 1) {
    const m = step >> 1;
    const numerator =
      step === 0 ? 1 : step % 2 === 0 ? (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m)) : (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 + numerator * d;
    d = 1 / (Math.abs(d) < tiny ? tiny : d);
    c = 1 + numerator / c;
    if (Math.abs(c) < tiny) c = tiny;
    const change = c * d;
    f *= change;
    if (Math.abs(1 - change) < 1e-15) break;
  }
  return front * (f - 1);
}

/** P(T > t) for t >= 0. */
function upperTail(t: number, degrees: number): number {
  return incompleteBeta(degrees / (degrees + t * t), degrees / 2, 0.5) / 2;
}

/** The t that a share `tail` of the distribution exceeds, for 0 < tail < 0.5 and one degree of freedom or more. */
export function upperQuantile(tail: number, degrees: number): number {
  let low = 0;
  let high = 1;
  while (upperTail(high, degrees) > tail) high *= 2;
  for (let step = 0; step < 200 && high - low > 1e-15 * high; step += 1) {
    const middle = (low + high) / 2;
    if (upperTail(middle, degrees) > tail) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}
