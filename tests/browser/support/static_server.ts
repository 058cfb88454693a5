// A small static server with the headers that the real one sends: isolation, strict content policy, right types.

import { createReadStream, statSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join, normalize } from "node:path";

const types: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".mjs": "text/javascript",
  ".css": "text/css",
  ".json": "application/json",
  ".wasm": "application/wasm",
  ".wgsl": "text/plain; charset=utf-8",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8",
};

export const security_headers: Record<string, string> = {
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
  "Cross-Origin-Resource-Policy": "same-origin",
  "X-Content-Type-Options": "nosniff",
  "Content-Security-Policy":
    "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
    " object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
};

/** Answers a request by itself and returns true, or returns false to let files be served. */
export type Handler = (request: IncomingMessage, response: ServerResponse, path: string) => boolean;

export interface StaticServer {
  origin: string;
  close(): Promise<void>;
}

/** Serves `folders` by address prefix, the longest one first ("/" for the tree itself), after `handler` has had its turn. */
export async function serveFolders(folders: Record<string, string>, handler: Handler = () => false): Promise<StaticServer> {
  const prefixes = Object.keys(folders).sort((a, b) => b.length - a.length);
  const server: Server = createServer((request, response) => {
    for (const [name, value] of Object.entries(security_headers)) response.setHeader(name, value);
    const path = decodeURIComponent(new URL(request.url ?? "/", "http://h").pathname);
    if (handler(request, response, path)) return;
    // The handler may have changed the address.
    const served = decodeURIComponent(new URL(request.url ?? "/", "http://h").pathname);
    const prefix = prefixes.find((candidate) => served.startsWith(candidate));
    if (prefix === undefined) return end(response, 404, "no such page");
    const inside = normalize(served.slice(prefix.length));
    if (inside.startsWith("..")) return end(response, 404, "no such page");
    let file = join(folders[prefix]!, inside);
    if (served.endsWith("/")) file = join(file, "index.html");
    const found = statSync(file, { throwIfNoEntry: false });
    if (found === undefined || !found.isFile()) return end(response, 404, `no such page: ${served}`);
    response.setHeader("Content-Type", types[extname(file)] ?? "application/octet-stream");
    response.setHeader("Content-Length", found.size);
    createReadStream(file).pipe(response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

function end(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { "Content-Type": "text/plain; charset=utf-8" }).end(text);
}
