// One sample for a bench that reloads the page for each: the worker's one time is left where tachometer reads it.

declare global {
  interface Window {
    /** Milliseconds. */
    tachometerResult?: number;
  }
}

const worker = new Worker(new URL("./step_worker.ts", import.meta.url), { type: "module", name: location.search });
worker.onmessage = (event: MessageEvent<number>) => {
  window.tachometerResult = event.data;
};

export {};
