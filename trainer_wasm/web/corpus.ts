// The text that an arm trains on: the built-in one is made by the trainer itself, any other comes by address and digest.

import { ArmError, type ArmConfig } from "./arm";

/** Lower-case hexadecimal SHA-256. */
export async function sha256Hex(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * The corpus' bytes, or null for the built-in one.
 * @throws ArmError corpus-mismatch when the bytes' digest is not the one asked for, or they cannot be had.
 */
export async function loadCorpus(
  corpus: ArmConfig["corpus"],
  base_url: string,
  fetch_bytes: (url: string) => Promise<Response> = (url) => fetch(url),
): Promise<Uint8Array<ArrayBuffer> | null> {
  if ("name" in corpus) return null;
  const url = new URL(corpus.url, base_url);
  if (url.origin !== new URL(base_url).origin) {
    throw new ArmError("bad-config", `the corpus ${corpus.url} is not on this page's origin`);
  }
  const response = await fetch_bytes(url.href);
  if (!response.ok) {
    throw new ArmError("corpus-mismatch", `the corpus ${corpus.url} could not be had: status ${response.status}`);
  }
  const bytes = new Uint8Array(await response.arrayBuffer());
  const digest = await sha256Hex(bytes);
  if (digest !== corpus.sha256) {
    throw new ArmError("corpus-mismatch", `the corpus ${corpus.url} has SHA-256 ${digest}, asked for was ${corpus.sha256}`);
  }
  return bytes;
}
