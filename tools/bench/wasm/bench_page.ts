// Starts the bench worker with the page's own query and posts its one result back to the server.

const worker = new Worker(new URL("./bench_worker.ts", import.meta.url), { type: "module", name: location.search });

function report(result: unknown): void {
  void fetch("/result", { method: "POST", body: JSON.stringify(result) });
}
worker.onmessage = (event) => report(event.data);
worker.onerror = (event) => report({ ok: false, error: event.message || "the worker could not be started" });
