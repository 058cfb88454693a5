// Points of the curve arranged for drawing: what may be joined by a line, and what stands alone.

import { bySize, preset_order } from "./presets";
import type { Evidence } from "./receipt";
import type { CurvePoint } from "./source";
import { distinctNames } from "../format";

export interface CurveSeries {
  machine_id: string;
  name: string;
  /** Index of the machine's colour. */
  colour: number;
  points: PlacedPoint[];
}

export interface PlacedPoint {
  flops: number;
  speedup: number;
  interval95?: [number, number];
  evidence: Evidence;
  preset: string;
  /** Points with the same run are joined; absent for a point that stands alone. */
  run?: string;
}

/** Classes whose points rest on samples that are kept, so that a line between two of them claims no more than they do. */
const joined: readonly Evidence[] = ["measured", "derived"];

/**
 * One series a machine. A line joins neighbouring presets only: where one in between was not measured the line breaks,
 * and historical, observed and projected points are never on it.
 */
export function curveSeries(points: readonly CurvePoint[]): CurveSeries[] {
  const machines = new Map<string, CurvePoint[]>();
  for (const point of points) {
    if (point.speedup === undefined || !(point.speedup > 0)) continue;
    if (point.flops_per_step === undefined || !(point.flops_per_step > 0)) continue;
    machines.set(point.machine_id, [...(machines.get(point.machine_id) ?? []), point]);
  }
  const names = distinctNames(points);
  return [...machines].map(([machine_id, own], colour) => ({
    machine_id,
    name: names.get(machine_id)!,
    colour,
    points: place(machine_id, own),
  }));
}

/** The newest point of each machine, size, pair of arms and evidence class: a curve shows what holds now, not its history. */
export function newestPoints(points: readonly CurvePoint[]): CurvePoint[] {
  const newest = new Map<string, CurvePoint>();
  for (const point of points) {
    // Points without a preset have sizes of their own; published ones may differ by their label alone.
    const size = point.preset === undefined || point.preset === "" ? String(point.flops_per_step) : point.preset;
    const label = point.evidence === "measured" ? "" : (point.label ?? "");
    const key = JSON.stringify([point.machine_id, size, point.arm_a, point.arm_b, point.evidence, label]);
    const known = newest.get(key);
    if (known === undefined || (point.created_at ?? "") > (known.created_at ?? "")) newest.set(key, point);
  }
  return [...newest.values()];
}

function place(machine_id: string, own: readonly CurvePoint[]): PlacedPoint[] {
  const sorted = [...own].sort((a, b) => bySize(a.preset ?? "", b.preset ?? "") || a.flops_per_step! - b.flops_per_step!);
  let run = 0;
  let last_rank: number | undefined;
  return sorted.map((point) => {
    const rank = preset_order.indexOf(point.preset ?? "");
    const may_join = rank >= 0 && joined.includes(point.evidence) && point.verdict !== "invalid" && point.verdict !== "failed";
    const placed: PlacedPoint = {
      flops: point.flops_per_step!,
      speedup: point.speedup!,
      evidence: point.evidence,
      preset: point.preset || "custom",
      ...(point.interval95 === undefined ? {} : { interval95: point.interval95 }),
    };
    if (may_join) {
      if (last_rank !== undefined && rank > last_rank + 1) run += 1;
      last_rank = rank;
      placed.run = `${machine_id}/${run}`;
    }
    return placed;
  });
}

export interface CumulativeRow {
  group: string;
  arm: string;
  factor: number;
  evidence: Evidence;
  /** Absent for the scalar bar, which is 1 by definition. */
  receipt_id?: string;
}

const scalar = "wasm-scalar";

/** How many times faster than scalar WebAssembly each arm is, from the points whose baseline is that arm. */
export function cumulativeRows(points: readonly CurvePoint[]): CumulativeRow[] {
  const names = distinctNames(points);
  const rows = points.flatMap((point): CumulativeRow[] => {
    // Its own bar is 1 by definition and comes first, whoever published it.
    if (point.arm_a !== scalar || point.arm_b === undefined || point.arm_b === scalar || point.speedup === undefined) return [];
    const group = `${names.get(point.machine_id)!}, ${point.preset || "custom"}`;
    return [{ group, arm: point.label ?? point.arm_b, factor: point.speedup, evidence: point.evidence, ...(point.receipt_id === undefined ? {} : { receipt_id: point.receipt_id }) }];
  });
  const groups = [...new Set(rows.map((row) => row.group))];
  return groups.flatMap((group) => [
    { group, arm: scalar, factor: 1, evidence: "derived" as const },
    ...rows.filter((row) => row.group === group).sort((a, b) => a.factor - b.factor),
  ]);
}
