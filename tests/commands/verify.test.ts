// `assay verify`: many files, keys, trust, chains, versions, and files that nobody should have to read.

import { copyFileSync, readFileSync, readdirSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { canonicalJson } from "../../orchestrator/dashboard/verify/canonical_json";
import { assay, exit, jsonLines, root, temporaryFolder } from "./support/program";
import { longerRun, newSigner, realFile, realReceipt, real_folder, seal, sealedFile, sha256OfFile, signerOfHome, type Signer } from "./support/receipts";

const folder = temporaryFolder();
const real_files = readdirSync(real_folder).map((name) => join(real_folder, name));

describe("assay verify", () => {
  it("finds every receipt of the H200 valid on this machine, many at once", () => {
    expect(real_files.length).toBeGreaterThanOrEqual(5);
    const answer = assay(folder, "verify", ...real_files);
    expect(answer.out.match(/^VALID /gm)).toHaveLength(real_files.length);
    expect(answer.code).toBe(exit.done);
  });

  it("answers one JSON object a file, with the reasons, and says no when one of many is wrong", () => {
    const changed = join(folder, "changed.assay.json");
    const text = readFileSync(realFile("small"), "utf8");
    writeFileSync(changed, text.replace("payloadType", "payloadtype"));
    const answer = assay(folder, "verify", "--json", realFile("small"), changed, join(folder, "missing.json"));
    const [good, bad, missing] = jsonLines(answer.out);
    expect(good).toMatchObject({ valid: true, reasons: [], verdict: "verified", machine_id: realReceipt("small").machine!.machine_id });
    expect(bad).toMatchObject({ file: changed, valid: false });
    expect((bad!["reasons"] as string[])[0]).toContain("payloadType");
    expect(missing).toMatchObject({ valid: false });
    expect(answer.err).toContain("cannot be read");
    expect(answer.code).toBe(exit.usage);
    expect(assay(folder, "verify", realFile("small"), changed).code).toBe(exit.invalid);
  });

  it("accepts one key alone, by its id or its file", () => {
    const signer = newSigner();
    const file = sealedFile(folder, "mine", realReceipt("small"), signer);
    const public_file = join(folder, "mine.pub");
    writeFileSync(public_file, `${signer.public_bytes.toString("base64")}\n`);
    expect(assay(folder, "verify", "--key", signer.key_id, file).code).toBe(exit.done);
    expect(assay(folder, "verify", "--key", public_file, file).code).toBe(exit.done);
    const other = assay(folder, "verify", "--key", public_file, realFile("small"));
    expect(other.code).toBe(exit.invalid);
    expect(other.out).toContain(`not by ${signer.key_id}`);
    const wrong = assay(folder, "verify", "--key", "no-such-key", file);
    expect(wrong.code).toBe(exit.usage);
    expect(wrong.err).toMatch(/--key: .*neither a file nor a key id.*64 hexadecimal digits/);
    expect(assay(folder, "verify", "--key", file, file).err).toContain("is no public key");
  });
});

it("--nonce accepts what answers one request alone", () => {
  const nonce = "0123456789abcdef0123456789abcdef";
  const receipt = realReceipt("small");
  receipt.request.nonce = nonce;
  receipt.nonce = nonce;
  const file = sealedFile(folder, "nonce", receipt);
  expect(assay(folder, "verify", "--nonce", nonce, file).code).toBe(exit.done);
  const other = assay(folder, "verify", "--nonce", "another-nonce-of-mine", file);
  expect(other.code).toBe(exit.invalid);
  expect(other.out).toContain("it does not answer that request");
  expect(assay(folder, "verify", "--nonce", nonce, realFile("small")).code).toBe(exit.invalid);
  receipt.nonce = "another-nonce-of-mine";
  expect(assay(folder, "verify", sealedFile(folder, "swapped", receipt)).out).toContain("/nonce is not /request/nonce");
});

/** Receipts of one machine, each holding the digest of the one before. */
function chainOf(signers: Signer[], name: string): string[] {
  const files: string[] = [];
  signers.forEach((signer, sequence) => {
    const receipt = realReceipt("small");
    receipt.id = `01M8QED7RG6BP1N8HQGWT6${String(sequence).padStart(4, "0")}`;
    receipt.machine!.machine_id = signer.machine_id;
    receipt.chain = { sequence, ...(sequence === 0 ? {} : { previous_sha256: sha256OfFile(files.at(-1)!) }) };
    files.push(sealedFile(folder, `${name}-${sequence}`, receipt, signer));
  });
  return files;
}

describe("a chain of receipts", () => {
  it("is whole in any order, and a gap, a fork and a broken link are named", () => {
    const signer = newSigner();
    const files = chainOf([signer, signer, signer, signer], "chain");
    expect(assay(folder, "verify", "--chain", ...[...files].reverse()).code).toBe(exit.done);

    const gap = assay(folder, "verify", "--chain", files[0]!, files[1]!, files[3]!);
    expect(gap.code).toBe(exit.invalid);
    expect(gap.out).toMatch(/CHAIN\s+gap: receipt 2 is missing/);
    const late = assay(folder, "verify", "--chain", "--json", ...files.slice(1));
    expect(jsonLines(late.out).at(-1)).toMatchObject({ chain_fault: "no-start", machine_id: signer.machine_id, sequence: 0 });

    const again = chainOf([signer, signer], "again");
    const receipt = realReceipt("small");
    receipt.machine!.machine_id = signer.machine_id;
    receipt.chain = { sequence: 1, previous_sha256: "0".repeat(64) };
    const broken = assay(folder, "verify", "--chain", again[0]!, sealedFile(folder, "broken", receipt, signer));
    expect(broken.out).toContain("broken-link");
    expect(assay(folder, "verify", "--chain", again[0]!, again[1]!, join(folder, "broken.assay.json")).out).toContain("fork");
    // Without being asked, nobody supposes that the files are all there are.
    expect(assay(folder, "verify", files[0]!, files[3]!).code).toBe(exit.done);
  });

  it("outlives a rotated key, ends with a revoked one, and holds imported figures too", () => {
    const home = join(folder, "data/assay");
    const shown = assay(folder, "keygen").out;
    const first = signerOfHome(home);
    expect(shown).toContain(first.key_id);
    expect(assay(folder, "keygen", "--rotate").code).toBe(exit.done);
    const second = signerOfHome(home);
    expect(second.key_id).not.toBe(first.key_id);
    expect(second.machine_id).toBe(first.machine_id);

    const files = chainOf([first, first, second], "rotated");
    const trust = join(home, "trust");
    writeFileSync(join(trust, "bench.pub"), /^public key\s+(\S+)$/m.exec(shown)![1]!);
    expect(assay(folder, "verify", "--chain", "--trust", trust, ...files).code).toBe(exit.done);
    const stranger = assay(folder, "verify", "--trust", trust, realFile("small"));
    expect(stranger.code).toBe(exit.invalid);
    expect(stranger.out).toContain("is not in the trust folder");

    const posing = realReceipt("small");
    const spoken_for = assay(folder, "verify", "--trust", trust, sealedFile(folder, "posing", posing, first));
    expect(spoken_for.code).toBe(exit.invalid);
    expect(spoken_for.out).toMatch(/claims to be of the machine .*rotation certificate/);

    writeFileSync(join(trust, "revoked"), `# keys not to be believed\n${first.key_id} the disk was stolen\n`);
    const revoked = assay(folder, "verify", "--trust", trust, ...files);
    expect(revoked.code).toBe(exit.invalid);
    expect(revoked.out.match(/^INVALID/gm)).toHaveLength(3);
    expect(revoked.out).toContain("was revoked: the disk was stolen");
    writeFileSync(join(trust, "revoked"), "not a key id\n");
    const damaged = assay(folder, "verify", "--trust", trust, ...files);
    expect(damaged.code).not.toBe(exit.done);
    expect(damaged.err).toContain("does not begin with a key id");
    const nowhere = assay(folder, "verify", "--trust", join(folder, "nowhere"), ...files);
    expect(nowhere.code).not.toBe(exit.done);
    expect(nowhere.err).toContain("cannot read the trust folder");

    expect(assay(folder, "import", join(root, "results/historical/curve.json")).code).toBe(exit.done);
    const imported = readdirSync(join(home, "receipts")).map((name) => join(home, "receipts", name));
    const chain = assay(folder, "verify", "--chain", ...imported);
    expect(chain.out).not.toContain("CHAIN");
    expect(chain.code).toBe(exit.done);
    expect(chain.out).toContain("nothing to recompute");
    expect(assay(folder, "verify", "--chain", ...imported.slice(0, 2), ...imported.slice(3)).out).toContain("gap");
  });
});

describe("a receipt of another version", () => {
  it("of an older minor one, without what came later, verifies; a newer minor one's unknown fields are passed over", () => {
    const older = realReceipt("small");
    delete older.analysis!.details;
    delete older.analysis!.notes;
    older.verdict.reasons!.forEach((reason) => delete reason.facts);
    expect(assay(folder, "verify", sealedFile(folder, "older", older)).code).toBe(exit.done);
    const newer = { ...realReceipt("small"), schema: "assay.receipt/1.9", moon_phase: "full" };
    expect(assay(folder, "verify", sealedFile(folder, "newer", newer)).code).toBe(exit.done);
    const unknown = { ...realReceipt("small"), moon_phase: "full" };
    const answer = assay(folder, "verify", sealedFile(folder, "unknown", unknown));
    expect(answer.code).toBe(exit.invalid);
    expect(answer.out).toContain("moon_phase");
  });

  it("of an unknown major one is refused by name", () => {
    const answer = assay(folder, "verify", sealedFile(folder, "major", { ...realReceipt("small"), schema: "assay.receipt/2.0" }));
    expect(answer.code).toBe(exit.invalid);
    expect(answer.out).toMatch(/\/schema: .*"assay\.receipt\/2\.0".*assay\.receipt\/1\.x.*newer assay/);
    const other = assay(folder, "verify", sealedFile(folder, "other", { ...realReceipt("small"), schema: "weather.report/1.0" }));
    expect(other.out).toContain("weather.report/1.0");
  });
});

describe("a file that is no receipt", () => {
  const answerTo = (name: string, content: string | Buffer): { code: number | null; out: string } => {
    const file = join(folder, name);
    writeFileSync(file, content);
    return assay(folder, "verify", file);
  };
  const whole = readFileSync(realFile("small"), "utf8");

  it.each([
    ["empty", "", /no JSON value/],
    ["truncated", whole.slice(0, whole.length / 2), /corrupt|not strict|ends|JSON/i],
    ["with a line end", `${whole}\n`, /JSON|byte-identical/],
    ["not UTF-8", Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]), /UTF-8/],
    ["a list", "[1,2,3]", /payload/],
    ["nested deeply", "[".repeat(100_000), /nest|deep/],
    ["a number too large", '{"payload":1e400}', /range|number|large|finite/],
    ["a bare NaN", '{"payload":NaN}', /JSON/],
    ["a key twice", '{"payload":"","payload":""}', /twice/],
  ])("%s is INVALID, with the reason", (name, content, reason) => {
    const answer = answerTo(`hostile-${name.replaceAll(" ", "-")}.json`, content);
    expect(answer.code).toBe(exit.invalid);
    expect(answer.out).toMatch(/^INVALID/);
    expect(answer.out).toMatch(reason);
  });

  it("is refused by its size before it is read", () => {
    const huge = join(folder, "huge.json");
    writeFileSync(huge, "");
    truncateSync(huge, 2 ** 31);
    const answer = assay(folder, "verify", huge);
    expect(answer.err).toContain("larger than any receipt");
    expect(answer.code).toBe(exit.usage);
    expect(assay(folder, "verify", folder).code).toBe(exit.usage);
  });

  it.each([
    ["/arms/0/steps/3/wall_ms", (r: Inner) => (r.arms[0].steps[3].wall_ms = "5")],
    ["/arms/1/steps/0/loss", (r: Inner) => (r.arms[1].steps[0].loss = null)],
    ["/arms/0/steps/0/wall_ms", (r: Inner) => (r.arms[0].steps[0].wall_ms = -1)],
    ["/arms/2/block", (r: Inner) => (r.arms[2].block = "C")],
    ["/created_at", (r: Inner) => (r.created_at = "2026-11-30T22:37:27+01:00")],
    ["/request/arms/1", (r: Inner) => (r.request.arms[1] = "abacus")],
    ["/verdict", (r: Inner) => delete r.verdict],
    ["/analysis/interval95", (r: Inner) => (r.analysis.interval95 = [1, 2, 3])],
    ["/inputs/weights_sha256", (r: Inner) => (r.inputs.weights_sha256 = "abc")],
  ])("signed, but wrong at %s, is INVALID and the field is named", (pointer, spoil) => {
    const inner = realReceipt("small");
    spoil(inner as unknown as Inner);
    const answer = assay(folder, "verify", sealedFile(folder, "spoilt", inner));
    expect(answer.code).toBe(exit.invalid);
    expect(answer.out).toContain(`${pointer}: `);
  });

  it("is told from one whose envelope is not canonical, though its signature holds", () => {
    const spaced = JSON.stringify(JSON.parse(whole), null, 1);
    expect(answerTo("spaced.json", spaced).out).toContain("not byte-identical");
    const extra = canonicalJson({ ...(JSON.parse(whole) as object), extra: 1 });
    expect(answerTo("extra.json", extra).code).toBe(exit.invalid);
  });
});

/** A receipt that a test spoils beyond its type. */
type Inner = any;

describe("a run that chose its count", () => {
  it("verifies by the two-stage rule, and not where it stopped before the rule allows", () => {
    const rule = { auto: { bound: 20, half_width: 0.003 } };
    const wanted = longerRun({ quadruples: rule, ran: 6, noise: 0.02 }).analysis!.details!["quadruples_wanted"]!;
    expect(wanted).toBeGreaterThan(6);
    const ran = Math.min(wanted, 20);
    const whole = longerRun({ quadruples: rule, ran, noise: 0.02 });
    expect(whole.analysis!.details!["quadruples_wanted"]).toBe(wanted);
    expect(assay(folder, "verify", sealedFile(folder, "auto", whole))).toMatchObject({ code: exit.done });
    const stopped = longerRun({ quadruples: rule, ran: 6, noise: 0.02 });
    expect(stopped.verdict.result).toBe("failed");
    stopped.verdict = whole.verdict;
    const answer = assay(folder, "verify", sealedFile(folder, "stopped", stopped));
    expect(answer.code).toBe(exit.invalid);
    expect(answer.out).toContain("/verdict/result");
  });
});

it("a copied file is the same receipt", () => {
  const copy = join(folder, "copy.assay.json");
  copyFileSync(realFile("small"), copy);
  expect(assay(folder, "verify", "--chain", copy, realFile("small"), realFile("refused")).out.match(/fork/g)).toBeNull();
  expect(seal(realReceipt("small"))).not.toBe(readFileSync(copy, "utf8"));
});
