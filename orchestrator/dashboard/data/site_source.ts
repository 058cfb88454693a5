// The files of a static site as a Source. `assay site DIR` writes them beside the page:
//
//   data/receipts.json          as GET /api/v1/receipts answers, all chosen receipts in one page
//   data/receipts/ID.assay.json the signed files
//   data/curve.json             as GET /api/v1/curve answers
//   data/machines.json          as GET /api/v1/machines answers
//   data/compare/ID.json        {"comparisons": [as GET /api/v1/compare?a=ID answers, for every other receipt]}

import { Problem } from "./problem";
import { getJson, request, type Comparison, type CurvePoint, type Machine, type Page, type ReceiptFilter, type ReceiptSummary, type Source, type Trend } from "./source";

export class SiteSource implements Source {
  readonly live = false;

  /** @param base address of the folder that holds index.html */
  constructor(private readonly base_: string) {}

  private file(path: string): string {
    return new URL(`data/${path}`, this.base_).href;
  }

  async receipts(filter: ReceiptFilter, signal: AbortSignal): Promise<Page<ReceiptSummary>> {
    const all = ((await getJson(this.file("receipts.json"), signal)) as { receipts: ReceiptSummary[] }).receipts;
    const keeps = (wanted: string | undefined, value: string | undefined): boolean => wanted === undefined || wanted === value;
    return {
      items: all.filter(
        (receipt) =>
          keeps(filter.machine, receipt.machine_id) &&
          keeps(filter.preset, receipt.preset) &&
          keeps(filter.verdict, receipt.verdict) &&
          keeps(filter.evidence, receipt.evidence) &&
          keeps(filter.label, receipt.label),
      ),
    };
  }
  async receiptFile(id: string, signal: AbortSignal): Promise<string> {
    return (await request(this.receiptFileAddress(id), { signal })).text();
  }
  receiptFileAddress(id: string): string {
    return this.file(`receipts/${encodeURIComponent(id)}.assay.json`);
  }
  async curve(signal: AbortSignal): Promise<CurvePoint[]> {
    return ((await getJson(this.file("curve.json"), signal)) as { points: CurvePoint[] }).points;
  }
  async compare(a: string, b: string, signal: AbortSignal): Promise<Comparison> {
    const missing = new Problem(404, "Not in this copy", "These two were not compared when the site was written; assay compare does it.");
    let comparisons: Comparison[];
    try {
      ({ comparisons } = (await getJson(this.file(`compare/${encodeURIComponent(a)}.json`), signal)) as { comparisons: Comparison[] });
    } catch (thrown) {
      throw thrown instanceof Problem && thrown.status === 404 ? missing : thrown;
    }
    const found = comparisons.find((comparison) => comparison.b?.id === b);
    if (found === undefined) throw missing;
    return found;
  }
  async machines(signal: AbortSignal): Promise<Machine[]> {
    return ((await getJson(this.file("machines.json"), signal)) as { machines: Machine[] }).machines;
  }
  trend(): Promise<Trend> {
    return Promise.reject(new Problem(404, "Not in this copy", "A static site holds no nightly history."));
  }
}
