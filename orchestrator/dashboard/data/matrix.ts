// Machines by presets: the newest figure of each, and what stands beside it.

import { byName, distinctNames } from "../format";
import { bySize } from "./presets";
import type { CurvePoint, ReceiptSummary } from "./source";

export interface Cell {
  newest: CurvePoint;
  /** How many receipts of this machine and preset were looked at. */
  receipts: number;
}

export interface Matrix {
  presets: string[];
  machines: { id: string; name: string; cells: Map<string, Cell> }[];
}

export const custom_size = "custom";

export const arm_separator = " / ";

export function armPair(point: { arm_a?: string; arm_b?: string }): string {
  return `${point.arm_a ?? "?"}${arm_separator}${point.arm_b ?? "?"}`;
}

/** The pairs of arms that occur, the most frequent first. */
export function armPairs(points: readonly { arm_a?: string; arm_b?: string }[]): string[] {
  const counts = new Map<string, number>();
  for (const point of points) counts.set(armPair(point), (counts.get(armPair(point)) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0])).map(([pair]) => pair);
}

export function buildMatrix(points: readonly CurvePoint[]): Matrix {
  const machines = new Map<string, { id: string; name: string; cells: Map<string, Cell> }>();
  const presets = new Set<string>();
  const names = distinctNames(points);
  for (const point of points) {
    const preset = point.preset || custom_size;
    presets.add(preset);
    const name = names.get(point.machine_id)!;
    const machine = machines.get(point.machine_id) ?? { id: point.machine_id, name, cells: new Map<string, Cell>() };
    machines.set(point.machine_id, machine);
    const cell = machine.cells.get(preset);
    if (cell === undefined) machine.cells.set(preset, { newest: point, receipts: 1 });
    else machine.cells.set(preset, { newest: newer(cell.newest, point), receipts: cell.receipts + 1 });
  }
  return {
    presets: [...presets].sort(bySize),
    machines: [...machines.values()].sort(byName),
  };
}

function newer(a: CurvePoint, b: CurvePoint): CurvePoint {
  return (b.created_at ?? "") > (a.created_at ?? "") ? b : a;
}

/** A receipt of a list as a point of the curve; failed ones have no speed-up and stay in, so that they are seen. */
export function pointOf(receipt: ReceiptSummary): CurvePoint {
  return {
    machine_id: receipt.machine_id,
    receipt_id: receipt.id,
    evidence: receipt.evidence,
    verdict: receipt.verdict,
    arm_a: receipt.arm_a,
    arm_b: receipt.arm_b,
    created_at: receipt.created_at,
    ...(receipt.machine_name === undefined ? {} : { machine_name: receipt.machine_name }),
    ...(receipt.preset === undefined ? {} : { preset: receipt.preset }),
    ...(receipt.flops_per_step === undefined ? {} : { flops_per_step: receipt.flops_per_step }),
    ...(receipt.speedup === undefined ? {} : { speedup: receipt.speedup }),
    ...(receipt.interval95 === undefined ? {} : { interval95: receipt.interval95 }),
  };
}
