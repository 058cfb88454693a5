// The inner receipt as the dashboard reads it. The types are those of the schema, with everything optional that a refused
// or failed run, an older minor version or a file made by someone else may lack.

import type * as schema from "./generated/receipt_schema";

type Whole = schema.AReceiptOneRunWithEverySampleItMade;

export type Evidence = Whole["evidence"];
export type VerdictResult = schema.Verdict["result"];
export type Reason = schema.Verdict["reasons"][number];
export type StepSample = schema.Step;
export type PageAdapter = schema.PageAdapter;
export type AdapterViews = schema.AdapterViews;
export type Facts = Record<string, unknown>;

export type ArmRecord = Pick<schema.Arm, "arm" | "block" | "quadruple" | "position"> & Partial<schema.Arm>;
export type Analysis = Partial<schema.Analysis>;

export type Receipt = Pick<Whole, "schema" | "id" | "created_at" | "evidence"> &
  Partial<Pick<Whole, "run_id" | "environment" | "adapter" | "inputs" | "plan" | "phases_ms" | "chain" | "nonce" | "notes">> & {
    request: Whole["request"] & { steps: number; arms: string[] };
    machine?: Partial<schema.Machine>;
    browser?: Partial<NonNullable<Whole["browser"]>>;
    model?: Partial<Whole["model"]>;
    arms?: ArmRecord[];
    analysis?: Analysis;
    verdict: Pick<schema.Verdict, "result"> & Partial<schema.Verdict>;
  };

/** "A1", "B1", "B2", "A2": the block's letter and which of its two it is within the quadruple. */
export function blockNames(arms: readonly ArmRecord[]): string[] {
  const seen = new Map<string, number>();
  return arms.map((record) => {
    const key = `${record.quadruple}/${record.block}`;
    const nth = (seen.get(key) ?? 0) + 1;
    seen.set(key, nth);
    return `${record.block}${nth}`;
  });
}
