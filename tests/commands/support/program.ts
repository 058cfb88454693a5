// The built program, run in a home of its own.

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";

export const root = new URL("../../../", import.meta.url).pathname;
const program = join(process.env["ASSAY_BUILD"] ?? join(root, "build/release"), "bin/assay");

export const exit = { done: 0, usage: 2, refused: 3, invalid: 4, failed: 5 } as const;

export interface Answer {
  code: number | null;
  out: string;
  err: string;
}

/** A folder that goes away with the tests of the file that asked for it. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "assay-commands-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Runs `assay ARGUMENTS` in `folder`, with its home in there too. */
export function assay(folder: string, ...args: string[]): Answer {
  const ran = spawnSync(program, args, {
    cwd: folder,
    encoding: "utf8",
    env: { ...process.env, HOME: folder, XDG_DATA_HOME: join(folder, "data") },
    timeout: 50_000,
    maxBuffer: 64 << 20,
  });
  if (ran.error !== undefined) throw ran.error;
  return { code: ran.status, out: ran.stdout, err: ran.stderr };
}

/** The JSON objects of an answer, one a line. */
export function jsonLines(text: string): Record<string, unknown>[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}
