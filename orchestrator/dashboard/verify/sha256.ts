// SHA-256 (FIPS 180-4) for pages that the browser does not trust with WebCrypto: those that came over plain http from
// another machine. Digests can then still be checked there.

/** The first 32 bits of the fractional parts of f(p) for the first `count` primes p. */
function primeFractions(count: number, f: (prime: number) => number): number[] {
  const primes: number[] = [];
  for (let candidate = 2; primes.length < count; candidate += 1) {
    if (primes.every((prime) => candidate % prime !== 0)) primes.push(candidate);
  }
  return primes.map((prime) => Math.floor((f(prime) % 1) * 2 ** 32) | 0);
}

const initial = primeFractions(8, Math.sqrt);
const constants = primeFractions(64, Math.cbrt);

function rotate(word: number, by: number): number {
  return (word >>> by) | (word << (32 - by));
}

/** The digest in hex. */
export function sha256Hex(bytes: Uint8Array): string {
  const blocks = (bytes.length + 9 + 63) >> 6;
  const padded = new Uint8Array(blocks * 64);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 8, Math.floor((bytes.length * 8) / 2 ** 32));
  view.setUint32(padded.length - 4, (bytes.length * 8) >>> 0);

  const state = [...initial];
  const words = new Int32Array(64);
  for (let at = 0; at < padded.length; at += 64) {
    for (let index = 0; index < 16; index += 1) words[index] = view.getInt32(at + 4 * index);
    for (let index = 16; index < 64; index += 1) {
      const [older, newer] = [words[index - 15]!, words[index - 2]!];
      const s0 = rotate(older, 7) ^ rotate(older, 18) ^ (older >>> 3);
      const s1 = rotate(newer, 17) ^ rotate(newer, 19) ^ (newer >>> 10);
      words[index] = words[index - 16]! + s0 + words[index - 7]! + s1;
    }
    compress(state, words);
  }
  return state.map((word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
}

function compress(state: number[], words: Int32Array): void {
  let [a, b, c, d, e, f, g, h] = state as [number, number, number, number, number, number, number, number];
  for (let index = 0; index < 64; index += 1) {
    const s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    const first = (h + s1 + ((e & f) ^ (~e & g)) + constants[index]! + words[index]!) | 0;
    const s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    const second = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + second) | 0];
  }
  [a, b, c, d, e, f, g, h].forEach((word, index) => {
    state[index] = (state[index]! + word) | 0;
  });
}
