// A receipt's file opened and checked in the browser, without the server that sent it: form, key, signature, digest.
// The format is stated in docs/receipt.md; the same checks in the same order are made by `assay verify`.

import type { Receipt } from "../data/receipt";
import { canonicalJson } from "./canonical_json";
import { sha256Hex } from "./sha256";

const payload_type = "application/vnd.in-toto+json";
const statement_type = "https://in-toto.io/Statement/v1";
const predicate_type = "urn:assay:receipt:1";

export interface Check {
  name: string;
  /** "skipped" where this browser cannot do it, with the reason in `detail`. */
  outcome: "passed" | "failed" | "skipped";
  detail: string;
}

export interface OpenedEnvelope {
  /** Absent when the file holds no receipt that could be read. */
  receipt?: Receipt;
  key_id?: string;
  file_sha256: string;
  checks: Check[];
}

interface Envelope {
  payload: string;
  payloadType: string;
  signatures: { keyid: string; public_key: string; sig: string }[];
}

/** Opens a file. Every fault is a failed check; nothing is thrown. */
export async function openEnvelope(file_text: string): Promise<OpenedEnvelope> {
  const checks: Check[] = [];
  const pass = (name: string, detail: string): unknown => checks.push({ name, outcome: "passed", detail });
  const fail = (name: string, detail: string): unknown => checks.push({ name, outcome: "failed", detail });
  const file_sha256 = await sha256(new TextEncoder().encode(file_text));
  const opened: OpenedEnvelope = { file_sha256, checks };

  const envelope = readEnvelope(file_text);
  if (envelope === undefined) {
    fail("form", "The file is not a signed receipt envelope.");
    return opened;
  }
  if (isCanonical(file_text)) pass("form", "The file is its own canonical form, byte for byte.");
  else fail("form", "The file is not byte-identical to its canonical form: something in it was changed.");

  const { keyid, public_key, sig } = envelope.signatures[0]!;
  const payload = bytesOfBase64(envelope.payload);
  const key = bytesOfBase64(public_key);
  const signature = bytesOfBase64(sig);
  if (payload === undefined || key === undefined || signature === undefined || key.length !== 32) {
    fail("key", "The payload, the key or the signature is not readable base 64.");
    return opened;
  }
  opened.key_id = await sha256(key);
  if (opened.key_id === keyid) pass("key", `The key id ${keyid.slice(0, 16)}… belongs to the key.`);
  else fail("key", "The key id is not the digest of the key.");
  checks.push(await checkSignature(payload, key, signature));

  const statement = parse(new TextDecoder().decode(payload)) as Statement | undefined;
  const receipt = statement?.predicate;
  if (statement === undefined || typeof receipt !== "object" || receipt === null) {
    fail("statement", "The payload holds no receipt.");
    return opened;
  }
  opened.receipt = receipt;
  checks.push(await checkStatement(statement, receipt, payload));
  return opened;
}

interface Statement {
  _type?: string;
  predicateType?: string;
  predicate?: Receipt;
  subject?: { name?: string; digest?: { sha256?: string } }[];
}

async function checkStatement(statement: Statement, receipt: Receipt, payload: Uint8Array): Promise<Check> {
  const name = "statement";
  if (statement._type !== statement_type || statement.predicateType !== predicate_type) {
    return { name, outcome: "failed", detail: `The statement is about "${String(statement.predicateType)}", not a receipt of version 1.` };
  }
  const canonical = tryCanonical(receipt);
  const digest = canonical === undefined ? undefined : await sha256(new TextEncoder().encode(canonical));
  const subject = statement.subject?.[0];
  if (statement.subject?.length !== 1 || subject?.digest?.sha256 !== digest || subject?.name !== receipt.id) {
    return { name, outcome: "failed", detail: "The statement's digest is not that of its receipt." };
  }
  if (tryCanonical(statement) !== new TextDecoder().decode(payload)) {
    return { name, outcome: "failed", detail: "The statement is not in canonical form." };
  }
  return { name, outcome: "passed", detail: "The statement's digest is that of its receipt." };
}

/** DSSE's pre-authentication encoding: what is signed. */
export function preAuthenticationEncoding(type: string, payload: Uint8Array): Uint8Array<ArrayBuffer> {
  const head = new TextEncoder().encode(`DSSEv1 ${new TextEncoder().encode(type).length} ${type} ${payload.length} `);
  const encoded = new Uint8Array(head.length + payload.length);
  encoded.set(head);
  encoded.set(payload, head.length);
  return encoded;
}

async function checkSignature(
  payload: Uint8Array,
  key: Uint8Array<ArrayBuffer>,
  signature: Uint8Array<ArrayBuffer>,
): Promise<Check> {
  const name = "signature";
  if (!hasWebCrypto()) {
    return { name, outcome: "skipped", detail: "This page came over plain http, where browsers do not check signatures. Open it over https, or use assay verify." };
  }
  let imported: CryptoKey;
  try {
    imported = await crypto.subtle.importKey("raw", key, { name: "Ed25519" }, false, ["verify"]);
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message : String(thrown);
    return { name, outcome: "skipped", detail: `This browser cannot check Ed25519 signatures (${why}). Use assay verify.` };
  }
  const holds = await crypto.subtle.verify({ name: "Ed25519" }, imported, signature, preAuthenticationEncoding(payload_type, payload));
  return holds
    ? { name, outcome: "passed", detail: "The Ed25519 signature holds." }
    : { name, outcome: "failed", detail: "The signature does not hold: the receipt was changed after it was signed." };
}

function readEnvelope(file_text: string): Envelope | undefined {
  const value = parse(file_text) as Partial<Envelope> | undefined;
  const signature = Array.isArray(value?.signatures) && value.signatures.length === 1 ? value.signatures[0] : undefined;
  const texts = [value?.payload, value?.payloadType, signature?.keyid, signature?.public_key, signature?.sig];
  if (texts.some((text) => typeof text !== "string") || value?.payloadType !== payload_type) return undefined;
  return value as Envelope;
}

function isCanonical(file_text: string): boolean {
  return tryCanonical(parse(file_text)) === file_text;
}

function tryCanonical(value: unknown): string | undefined {
  try {
    return canonicalJson(value);
  } catch {
    return undefined;
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** The bytes of standard base 64 with padding, or undefined for anything that would not be written the same way again. */
export function bytesOfBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    const binary = atob(text);
    if (btoa(binary) !== text) return undefined;
    return Uint8Array.from(binary, (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

export function base64OfBytes(bytes: Uint8Array): string {
  let binary = "";
  for (let at = 0; at < bytes.length; at += 0x8000) binary += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(binary);
}

/** Browsers keep it from pages that came over plain http from another machine, whatever the types say. */
function hasWebCrypto(): boolean {
  return (crypto as { subtle?: SubtleCrypto }).subtle !== undefined;
}

export async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  if (!hasWebCrypto()) return sha256Hex(bytes);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
