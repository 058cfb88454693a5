// What a reader can take from a receipt's page: steps as CSV, a badge.

import { csvField } from "../components/copy";
import { blockNames, type Receipt } from "../data/receipt";
import { ratio } from "../format";

/** One line a step, warm-up apart by its phase; RFC 4180. */
export function stepsCsv(receipt: Receipt): string {
  const arms = receipt.arms ?? [];
  const names = blockNames(arms);
  const lines = ["receipt,order,block,arm,quadruple,phase,step,wall_ms,loss,gpu_ms"];
  arms.forEach((record, index) => {
    for (const [phase, steps] of [["warmup", record.warmup ?? []], ["measure", record.steps ?? []]] as const) {
      steps.forEach((step, number) => {
        const fields = [receipt.id, index + 1, names[index], record.arm, record.quadruple, phase, number + 1, step.wall_ms, step.loss, step.gpu_ms];
        lines.push(fields.map(csvField).join(","));
      });
    }
  });
  return `${lines.join("\r\n")}\r\n`;
}

const badge_colour: Record<string, string> = { verified: "#1f6b3a", unqualified: "#865a00", inconclusive: "#865a00" };

/** An SVG badge that states preset, machine and verdict: never a bare number. */
export function badgeSvg(receipt: Receipt): string {
  const machine = typeof receipt.machine?.["hostname"] === "string" ? receipt.machine["hostname"] : "unknown machine";
  const left = `assay ${receipt.request.preset || "custom"} on ${machine.slice(0, 40)}`;
  const right = `${ratio(receipt.analysis?.speedup)} ${receipt.verdict.result}`;
  // Width of 11 px sans-serif text, about 6.4 px a character.
  const widths = [left, right].map((text) => Math.ceil(text.length * 6.4) + 14) as [number, number];
  const colour = badge_colour[receipt.verdict.result] ?? "#a4262c";
  const text = (x: number, content: string): string =>
    `<text x="${x}" y="14" fill="#fff" font-family="Verdana,sans-serif" font-size="11" text-anchor="middle">${escapeXml(content)}</text>`;
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${widths[0] + widths[1]}" height="20" role="img" aria-label="${escapeXml(`${left}: ${right}`)}">` +
    `<rect width="${widths[0]}" height="20" fill="#38424a"/><rect x="${widths[0]}" width="${widths[1]}" height="20" fill="${colour}"/>` +
    `${text(widths[0] / 2, left)}${text(widths[0] + widths[1] / 2, right)}</svg>`
  );
}

function escapeXml(text: string): string {
  const entities: Record<string, string> = { "<": "&lt;", ">": "&gt;", "&": "&amp;", '"': "&quot;", "'": "&apos;" };
  return text.replace(/[<>&"']/g, (character) => entities[character]!);
}
