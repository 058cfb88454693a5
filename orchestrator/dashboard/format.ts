// Numbers and times as people read them. Every function takes a value that may be absent and says so in words.

export const absent = "–";

/** Three significant digits and the unit that keeps the number readable: 1462.5 -> "1.46 s", 0.8 -> "0.80 ms". */
export function duration(milliseconds: number | undefined): string {
  if (milliseconds === undefined || !Number.isFinite(milliseconds)) return absent;
  if (milliseconds >= 60_000) return `${(milliseconds / 60_000).toFixed(1)} min`;
  if (milliseconds >= 1_000) return `${(milliseconds / 1_000).toPrecision(3)} s`;
  if (milliseconds >= 1) return `${trimmed(milliseconds)} ms`;
  return `${trimmed(milliseconds * 1_000)} µs`;
}

/** A ratio with its sign of multiplication: 10.67 -> "10.7×". */
export function ratio(value: number | undefined): string {
  if (value === undefined || !Number.isFinite(value)) return absent;
  return `${trimmed(value)}×`;
}

/** A fraction as a percentage: 0.0472 -> "4.72 %". */
export function percent(fraction: number | undefined): string {
  if (fraction === undefined || !Number.isFinite(fraction)) return absent;
  const value = fraction * 100;
  if (value !== 0 && Math.abs(value) < 0.001) return `${value.toExponential(1)} %`;
  return `${trimmed(value)} %`;
}

export function loss(value: number | undefined): string {
  return value === undefined || !Number.isFinite(value) ? absent : value.toFixed(4);
}

/** 26.3e9 -> "26.3 GFLOP". */
export function flops(value: number | undefined): string {
  if (value === undefined || !Number.isFinite(value)) return absent;
  if (value >= 1e12) return `${trimmed(value / 1e12)} TFLOP`;
  if (value >= 1e9) return `${trimmed(value / 1e9)} GFLOP`;
  return `${trimmed(value / 1e6)} MFLOP`;
}

export function count(value: number | undefined): string {
  return value === undefined ? absent : value.toLocaleString("en");
}

/** The reader's own time zone, to the minute, with the year only where it is not this one. */
export function moment(iso: string | undefined, now: Date = new Date()): string {
  const when = iso === undefined ? undefined : new Date(iso);
  if (when === undefined || Number.isNaN(when.getTime())) return absent;
  const same_year = when.getFullYear() === now.getFullYear();
  return when.toLocaleString("en-GB", {
    day: "numeric",
    month: "short",
    ...(same_year ? {} : { year: "numeric" }),
    hour: "2-digit",
    minute: "2-digit",
  });
}

/** "3 min ago", or the date once that says more. */
export function ago(iso: string | undefined, now: Date = new Date()): string {
  const when = iso === undefined ? undefined : new Date(iso);
  if (when === undefined || Number.isNaN(when.getTime())) return absent;
  const minutes = (now.getTime() - when.getTime()) / 60_000;
  if (minutes < 0) return moment(iso, now);
  if (minutes < 1) return "just now";
  if (minutes < 60) return `${Math.floor(minutes)} min ago`;
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h ago`;
  return moment(iso, now);
}

/** What a machine is called where its receipts are listed; published figures often name none. */
export function machineName(named: { machine_id: string; machine_name?: string }): string {
  return named.machine_name || named.machine_id || "machine not stated";
}

/** Names by id, with the id's beginning where two machines have the same name. */
export function distinctNames(machines: readonly { machine_id: string; machine_name?: string }[]): Map<string, string> {
  const names = new Map(machines.map((machine) => [machine.machine_id, machineName(machine)]));
  const times = new Map<string, number>();
  for (const name of names.values()) times.set(name, (times.get(name) ?? 0) + 1);
  return new Map([...names].map(([id, name]) => [id, times.get(name) === 1 || id === name ? name : `${name} (${id.slice(0, 4)})`]));
}

/** Orders names as people count: "bench-2" before "bench-10", and what has no name of its own last. */
export function byName(a: { id: string; name: string }, b: { id: string; name: string }): number {
  return Number(a.id === "") - Number(b.id === "") || a.name.localeCompare(b.name, "en", { numeric: true });
}

/** Which is faster and by how much, in words: "webgpu trained 9.31 times as fast as wasm-simd-mt". */
export function speedupWords(speedup: number, a: string, b: string): string {
  return speedup >= 1 ? `${b} trained ${trimmed(speedup)} times as fast as ${a}` : `${b} took ${trimmed(1 / speedup)} times as long as ${a}`;
}

/** Enough of a digest to recognise it. */
export function shortDigest(digest: string | undefined): string {
  return digest === undefined ? absent : digest.slice(0, 12);
}

function trimmed(value: number): string {
  const size = Math.abs(value);
  if (size >= 100) return value.toFixed(0);
  if (size >= 10) return value.toFixed(1);
  // Two decimals would make 0.0114 a 0.01.
  return size >= 1 || size === 0 ? value.toFixed(2) : value.toPrecision(3);
}
