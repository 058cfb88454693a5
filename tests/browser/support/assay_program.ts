// The built program as the tests run it: once, or as a server that lives as long as a test needs it.

import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../../", import.meta.url));

/** ASSAY_BINARY, or where the tools build it. A missing program fails the tests rather than skips them. */
export function findAssay(): string {
  const places = [process.env["ASSAY_BINARY"], `${root}build/release/bin/assay`, `${root}build/dev/bin/assay`];
  const found = places.find((place) => place !== undefined && existsSync(place));
  if (found === undefined) throw new Error("no built program: run ./tools/run.sh or set ASSAY_BINARY");
  return found;
}

export interface Ended {
  status: number | null;
  stdout: string;
  stderr: string;
}

export function runAssay(...options: string[]): Ended {
  const { status, stdout, stderr } = spawnSync(findAssay(), options, { encoding: "utf8", cwd: root, timeout: 110_000 });
  return { status, stdout, stderr };
}

/** A program that says where it listens on its output and is ended with the test. */
export class Server {
  private constructor(
    private readonly child_: ChildProcess,
    readonly origin: string,
  ) {}

  /** `assay serve` with a home of its own; `port` 0 takes a free one. */
  static serve(home: string, port = 0, ...options: string[]): Promise<Server> {
    return Server.start(findAssay(), ["serve", "--home", home, "--listen", `127.0.0.1:${port}`, ...options], /http:\/\/[\d.]+:\d+/);
  }

  /** Plain files, as any host without settings would publish them. */
  static plainFiles(folder: string): Promise<Server> {
    return Server.start("python3", ["-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory", folder], /http:\/\/[\d.]+:\d+/);
  }

  private static start(program: string, options: string[], says: RegExp): Promise<Server> {
    const child = spawn(program, options, { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
    return new Promise((resolve, reject) => {
      let said = "";
      const limit = setTimeout(() => {
        child.kill("SIGKILL");
        reject(new Error(`${program} did not say where it listens: ${said}`));
      }, 30_000);
      const listen = (chunk: Buffer): void => {
        said += chunk.toString();
        const origin = says.exec(said)?.[0];
        if (origin === undefined) return;
        clearTimeout(limit);
        resolve(new Server(child, origin));
      };
      child.stdout.on("data", listen);
      child.stderr.on("data", listen);
      child.on("exit", (status) => {
        clearTimeout(limit);
        reject(new Error(`${program} ended with ${status}: ${said}`));
      });
    });
  }

  get port(): number {
    return Number(new URL(this.origin).port);
  }

  /** Asks it to stop, and waits until it has. */
  async stop(): Promise<void> {
    if (this.child_.exitCode !== null) return;
    const ended = new Promise((resolve) => this.child_.once("exit", resolve));
    this.child_.kill("SIGINT");
    const force = setTimeout(() => this.child_.kill("SIGKILL"), 20_000);
    await ended;
    clearTimeout(force);
  }
}
