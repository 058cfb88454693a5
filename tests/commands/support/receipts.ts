// Receipts to give to the program: a real one from results/, and others made of it, analysed, judged and sealed anew.

import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, sign, type KeyObject } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Receipt } from "../../../orchestrator/dashboard/data/receipt";
import { canonicalJson } from "../../../orchestrator/dashboard/verify/canonical_json";
import { preAuthenticationEncoding } from "../../../orchestrator/dashboard/verify/envelope";
import { makePlan, seedOf } from "../../../orchestrator/dashboard/verify/plan";
import { recompute } from "../../../orchestrator/dashboard/verify/recompute";
import { SeededRandom } from "../../../orchestrator/dashboard/verify/statistics";
import { judge } from "../../../orchestrator/dashboard/verify/verdict";
import { root } from "./program";

export const real_folder = join(root, "tests/support/receipts");

/** The file of a real run on an H200: small, large (verified), medium, xl (inconclusive) or refused. */
export function realFile(name: string): string {
  return join(real_folder, `${name}.assay.json`);
}

/** What is inside a receipt's file. */
export function innerOf(file_text: string): Receipt {
  const envelope = JSON.parse(file_text) as { payload: string };
  const statement = JSON.parse(Buffer.from(envelope.payload, "base64").toString()) as { predicate: Receipt };
  return statement.predicate;
}

export function realReceipt(name: string): Receipt {
  return innerOf(readFileSync(realFile(name), "utf8"));
}

export interface Signer {
  key: KeyObject;
  public_bytes: Buffer;
  key_id: string;
  machine_id: string;
}

function signerOf(key: KeyObject, machine_id?: string): Signer {
  const public_bytes = createPublicKey(key).export({ format: "der", type: "spki" }).subarray(-32);
  const key_id = createHash("sha256").update(public_bytes).digest("hex");
  return { key, public_bytes, key_id, machine_id: machine_id ?? key_id.slice(0, 16) };
}

export function newSigner(): Signer {
  return signerOf(generateKeyPairSync("ed25519").privateKey);
}

/** The machine's own key, out of the home that `assay keygen` made. */
export function signerOfHome(home: string): Signer {
  const text = readFileSync(join(home, "key"), "utf8");
  const seed = Buffer.from(/^seed (\S+)$/m.exec(text)![1]!, "base64");
  const pkcs8 = Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), seed]);
  return signerOf(createPrivateKey({ key: pkcs8, format: "der", type: "pkcs8" }), /^machine (\S+)$/m.exec(text)![1]!);
}

/** An inner document: a receipt, or something that only looks like one. */
export type Inner = { id: string; [name: string]: unknown } | Receipt;

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

/** Signs any inner document, whatever it says, exactly as a machine signs its receipts. */
export function seal(inner: Inner, signer: Signer = newSigner()): string {
  const payload = canonicalJson({
    _type: "https://in-toto.io/Statement/v1",
    predicate: inner,
    predicateType: "urn:assay:receipt:1",
    subject: [{ name: inner.id, digest: { sha256: sha256(canonicalJson(inner)) } }],
  });
  const type = "application/vnd.in-toto+json";
  const signature = sign(null, preAuthenticationEncoding(type, Buffer.from(payload)), signer.key);
  return canonicalJson({
    payload: Buffer.from(payload).toString("base64"),
    payloadType: type,
    signatures: [{ keyid: signer.key_id, public_key: signer.public_bytes.toString("base64"), sig: signature.toString("base64") }],
  });
}

/** Writes the sealed receipt to `folder` and answers its path. */
export function sealedFile(folder: string, name: string, inner: Inner, signer?: Signer): string {
  const path = join(folder, `${name}.assay.json`);
  writeFileSync(path, seal(inner, signer));
  return path;
}

export function sha256OfFile(path: string): string {
  return sha256(readFileSync(path, "utf8"));
}

/** Figures and verdict as the samples give them: what an honest run, or a careful forger, writes. */
export function judgeAgain(receipt: Receipt): Receipt {
  for (const block of receipt.arms ?? []) {
    const times = block.steps!.map((step) => step.wall_ms).sort((x, y) => x - y);
    const upper = times[times.length >> 1]!;
    const lower = times[(times.length - 1) >> 1]!;
    block.median_step_ms = lower + (upper - lower) / 2;
    block.final_loss = block.steps!.at(-1)!.loss;
  }
  const analysis = recompute(receipt);
  receipt.analysis = analysis;
  receipt.verdict = judge(receipt, analysis);
  return receipt;
}

export interface RunOptions {
  quadruples: number | { auto: { bound: number; half_width: number } };
  /** How many ran, where the run chose its count. */
  ran?: number;
  /** A's time over B's in every quadruple. */
  ratio?: number;
  /** Relative noise of a block. */
  noise?: number;
  seed?: number;
}

/** The real run "small" with more quadruples: its blocks again in planned order, their times scaled and made noisy. */
export function longerRun(options: RunOptions): Receipt {
  const receipt = realReceipt("small");
  const count = options.ran ?? (options.quadruples as number);
  const random = new SeededRandom(BigInt(options.seed ?? 1));
  const uniform = (): number => Number(random.next() >> 11n) / 2 ** 53;
  const templates = { A: receipt.arms![0]!, B: receipt.arms![1]! };
  receipt.request.quadruples = options.quadruples as NonNullable<Receipt["request"]["quadruples"]>;
  receipt.plan = makePlan(count, seedOf(receipt.request.seed)!, true);
  receipt.arms = receipt.plan.map((block, index) => {
    const record = structuredClone(templates[block as "A" | "B"]);
    const factor = (block === "A" ? (options.ratio ?? 10) : 1) * Math.exp((options.noise ?? 0.01) * (uniform() - 0.5));
    record.steps!.forEach((step) => (step.wall_ms = factor * (1 + 0.02 * uniform())));
    record.quadruple = index >> 2;
    record.position = index % 4;
    return record;
  });
  return judgeAgain(receipt);
}
