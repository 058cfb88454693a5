// The one place that knows how the trainer's WebAssembly builds are loaded and called: memory, threads, pointer types.
//
// Runs inside a dedicated worker (Atomics.wait is forbidden on a window's main thread), and under Node for tests.
// A build is two files, NAME.mjs and NAME.wasm, made by build_wasm.sh. Its memory is made here, with a size that fits
// the model exactly, and never grows, so that no step pays for growth and no view goes stale.

import type { ModelShape } from "./arm";

/** The builds of the one C++ source. `inputs` makes weights and batches only, for an arm that trains elsewhere. */
export type TrainerVariant =
  | "inputs"
  | "wasm-scalar"
  | "wasm-simd"
  | "wasm-simd-mt"
  | "wasm-relaxed-mt"
  | "wasm64-simd-mt"
  | "wasm64-relaxed-mt";

export const trainerVariants: readonly TrainerVariant[] = [
  "inputs",
  "wasm-scalar",
  "wasm-simd",
  "wasm-simd-mt",
  "wasm-relaxed-mt",
  "wasm64-simd-mt",
  "wasm64-relaxed-mt",
];

/** Whether a build runs a pool of threads over shared memory. */
export function hasThreads(variant: TrainerVariant): boolean {
  return variant.endsWith("-mt");
}

/** Whether a build addresses memory with 64 bits. */
export function isMemory64(variant: TrainerVariant): boolean {
  return variant.startsWith("wasm64-");
}

export type TrainerMode = "train" | "inputs";

/** A failed call: the status of abi.hpp and the module's own sentence about it. */
export class TrainerError extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
    this.name = "TrainerError";
  }
  /** The arena, or the memory itself, does not fit. */
  get outOfMemory(): boolean {
    return this.status === -2;
  }
  /** The loss or the gradient norm is NaN or infinite. */
  get notFinite(): boolean {
    return this.status === -5;
  }
}

export interface TrainerTensor {
  name: string;
  /** In floats, from the start of the flat parameter vector. */
  offset: number;
  size: number;
  /** AdamW's weight decay applies. */
  decays: boolean;
}

export interface TrainerRequest {
  variant: TrainerVariant;
  shape: ModelShape;
  /** Counts the calling thread; builds without threads use 1 whatever is asked. */
  threads: number;
  seed: bigint;
  mode: TrainerMode;
  /** The text to train on, or the built-in one. */
  corpus: "builtin" | Uint8Array;
  /** Where NAME.mjs and NAME.wasm lie; by default beside this script. */
  baseUrl?: string | URL;
}

/** Milliseconds of each part of getting a module ready: fetch and compile, instantiate, create (weights included). */
export interface TrainerColdStart {
  compile: number;
  instantiate: number;
  create: number;
}

/** What an Emscripten factory (MODULARIZE, EXPORT_ES6) hands back; pointers are bigint in Memory64 builds. */
type Exported = (...values: (number | bigint)[]) => number | bigint;
interface EmscriptenModule {
  [name: `_assay_${string}`]: Exported;
  PThread?: { terminateAllThreads(): void };
}
type EmscriptenFactory = (options: Record<string, unknown>) => Promise<EmscriptenModule>;

const pageBytes = 65536;
/** Static data, stacks, thread-local storage and the allocator's own needs, beyond arena and corpus. */
const fixedBytes = 24 * 1024 * 1024;
const bytesPerThread = 2 * 1024 * 1024;
/** The maximum that build_wasm.sh links into the builds with 64-bit addresses; engines stop there too. */
const memory64Bytes = 16 * 1024 ** 3;
const corpusBuiltinBytes = 1024 * 1024;

interface Compiled {
  factory: EmscriptenFactory;
  module: WebAssembly.Module;
  milliseconds: number;
}

const runsUnderNode = typeof process !== "undefined" && typeof process.versions?.node === "string";

async function compile(variant: TrainerVariant, baseUrl: string | URL): Promise<Compiled> {
  const begin = performance.now();
  const scriptUrl = new URL(`${variant}.mjs`, baseUrl).href;
  const wasmUrl = new URL(`${variant}.wasm`, baseUrl);
  const imported = (await import(/* @vite-ignore */ scriptUrl)) as { default: EmscriptenFactory };
  let module: WebAssembly.Module;
  if (runsUnderNode && wasmUrl.protocol === "file:") {
    const fileSystem = (await import(/* @vite-ignore */ "node:fs/promises" as string)) as {
      readFile(path: URL): Promise<Uint8Array<ArrayBuffer>>;
    };
    module = await WebAssembly.compile(await fileSystem.readFile(wasmUrl));
  } else {
    const response = await fetch(wasmUrl);
    if (!response.ok) throw new Error(`the trainer build ${wasmUrl.href} cannot be fetched: HTTP ${response.status}`);
    module = await WebAssembly.compile(await response.arrayBuffer());
  }
  return { factory: imported.default, module, milliseconds: performance.now() - begin };
}

function makeMemory(variant: TrainerVariant, bytes: number): WebAssembly.Memory {
  const pages = Math.ceil(bytes / pageBytes);
  const shared = hasThreads(variant);
  try {
    if (isMemory64(variant)) {
      // More than the build declares would be refused only when the module is instantiated.
      if (bytes > memory64Bytes) throw new RangeError("64-bit WebAssembly builds of the trainer address 16 GiB at most");
      // The descriptor's key is `address`, and its limits are bigint; an engine that ignores the key would hand out a
      // 32-bit memory in silence, which instantiation then refuses.
      const descriptor = { address: "i64", initial: BigInt(pages), maximum: BigInt(pages), shared };
      return new WebAssembly.Memory(descriptor as unknown as WebAssembly.MemoryDescriptor);
    }
    if (pages > 65536) {
      throw new RangeError("32-bit WebAssembly addresses 4 GiB at most");
    }
    return new WebAssembly.Memory({ initial: pages, maximum: pages, shared });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new TrainerError(
      -2,
      `${variant} needs ${pages * pageBytes} bytes of memory for this model, which the engine does not give (${reason})`,
    );
  }
}

async function instantiate(
  compiled: Compiled,
  memory: WebAssembly.Memory,
  workers: number,
): Promise<EmscriptenModule> {
  // Emscripten's own promise never settles when the module is refused, so the refusal races it.
  let refuse: (cause: unknown) => void = () => {};
  const refused = new Promise<never>((_, reject) => {
    refuse = reject;
  });
  const made = compiled.factory({
    wasmMemory: memory,
    // Workers are started before the first call: spawning them from inside a call would wait for an event loop that
    // the call itself blocks.
    assayPoolSize: workers,
    instantiateWasm(
      imports: WebAssembly.Imports,
      done: (instance: WebAssembly.Instance, module: WebAssembly.Module) => void,
    ) {
      WebAssembly.instantiate(compiled.module, imports).then((instance) => done(instance, compiled.module), refuse);
      return {};
    },
  });
  return Promise.race([made, refused]);
}

/** Bytes of memory that a module needs for this model, everything included. */
function memoryBytes(arenaBytes: number, corpusBytes: number, threads: number): number {
  return arenaBytes + corpusBytes + fixedBytes + threads * bytesPerThread;
}

/** Loads a build with a memory that fits the model, makes the model, and returns it ready for its first step. */
export async function loadTrainer(request: TrainerRequest): Promise<TrainerModule> {
  const { variant, shape, mode, seed } = request;
  const threads = hasThreads(variant) ? request.threads : 1;
  const compiled = await compile(variant, request.baseUrl ?? import.meta.url);

  const instantiateBegin = performance.now();
  const corpusBytes = request.corpus === "builtin" ? corpusBuiltinBytes : request.corpus.byteLength;
  // A first instance in a small memory only answers how much the model needs.
  const sizingMemory = makeMemory(variant, fixedBytes);
  const sizing = new TrainerModule(variant, 1, sizingMemory, await instantiate(compiled, sizingMemory, 0));
  const bytes = memoryBytes(sizing.bytesNeeded(shape, threads, mode), corpusBytes, threads);
  const memory = makeMemory(variant, bytes);
  const trainer = new TrainerModule(variant, threads, memory, await instantiate(compiled, memory, threads - 1));
  const createBegin = performance.now();
  trainer.create(shape, seed, mode, request.corpus);
  trainer.coldStart = {
    compile: compiled.milliseconds,
    instantiate: createBegin - instantiateBegin,
    create: performance.now() - createBegin,
  };
  return trainer;
}

/** One loaded build with one model. Every method throws TrainerError when the module reports a failure. */
export class TrainerModule {
  coldStart: TrainerColdStart = { compile: 0, instantiate: 0, create: 0 };
  private shape: ModelShape | undefined;

  constructor(
    readonly variant: TrainerVariant,
    readonly threads: number,
    private readonly memory: WebAssembly.Memory,
    private readonly module: EmscriptenModule,
  ) {}

  get memoryByteLength(): number {
    return this.memory.buffer.byteLength;
  }

  /** Bytes of the arena that `create` would allocate for this shape. */
  bytesNeeded(shape: ModelShape, threads: number, mode: TrainerMode): number {
    return this.number("bytes_needed", ...this.shapeArguments(shape), threads, modeNumber(mode));
  }

  /** Sets the corpus and makes the model: initial weights, zero optimiser state, batch counter 0. */
  create(shape: ModelShape, seed: bigint, mode: TrainerMode, corpus: "builtin" | Uint8Array): void {
    if (corpus === "builtin") {
      this.check(this.number("corpus_builtin"));
    } else {
      const address = this.address("corpus_reserve", corpus.byteLength);
      if (address === 0) throw new TrainerError(-2, this.lastError());
      new Uint8Array(this.memory.buffer, address, corpus.byteLength).set(corpus);
    }
    const low = Number(seed & 0xffffffffn);
    const high = Number((seed >> 32n) & 0xffffffffn);
    this.check(
      this.number("create", ...this.shapeArguments(shape), this.threads, low, high, modeNumber(mode)),
    );
    this.shape = shape;
  }

  /** One training step; returns the mean cross-entropy of its batch, in nats. */
  step(): number {
    const out = this.hostBuffer();
    this.check(this.number("step", this.pointer(out)));
    return new Float32Array(this.memory.buffer, out, 1)[0]!;
  }

  /** Initial weights, zero optimiser state, batch counter 0: the next step is training step 1. */
  reset(): void {
    this.check(this.number("reset"));
  }

  /** Forward and backward on one batch; the gradients stay in place for `gradients()`. */
  gradientsOnly(batchIndex: number): number {
    const out = this.hostBuffer();
    this.check(this.number("gradients_only", batchIndex, this.pointer(out)));
    return new Float32Array(this.memory.buffer, out, 1)[0]!;
  }

  parameterCount(): number {
    return this.number("parameter_count");
  }

  /** A view of the flat parameter vector in the module's memory (shared memory in builds with threads). */
  parameters(): Float32Array {
    return new Float32Array(this.memory.buffer, this.address("parameters"), this.parameterCount());
  }

  /** A view of the flat gradient vector; only in mode `train`. */
  gradients(): Float32Array {
    const address = this.address("gradients");
    if (address === 0) throw new TrainerError(-4, "there are no gradients: the model was made for inputs only");
    return new Float32Array(this.memory.buffer, address, this.parameterCount());
  }

  tensors(): TrainerTensor[] {
    return Array.from({ length: this.number("tensor_count") }, (_, index) => ({
      name: this.text(this.address("tensor_name", index)),
      offset: this.number("tensor_offset", index),
      size: this.number("tensor_size", index),
      decays: this.number("tensor_decays", index) === 1,
    }));
  }

  /** Batch number `batchIndex` (0 is training step 1's): views that the next call of this method overwrites. */
  batch(batchIndex: number): { tokens: Int32Array; targets: Int32Array } {
    if (this.shape === undefined) throw new TrainerError(-4, "a batch was asked before the model was made");
    const address = this.address("batch", batchIndex);
    if (address === 0) throw new TrainerError(-4, this.lastError());
    const count = this.shape.batch * this.shape.ctx;
    return {
      tokens: new Int32Array(this.memory.buffer, address, count),
      targets: new Int32Array(this.memory.buffer, address + 4 * count, count),
    };
  }

  /** Digests in hexadecimal: the initial weights; batches 0..count-1; the corpus. */
  weightsSha256(): string {
    return this.digest("weights_sha256");
  }
  batchesSha256(count: number): string {
    return this.digest("batches_sha256", count);
  }
  corpusSha256(): string {
    return this.digest("corpus_sha256");
  }

  /** Test hook: the optimiser's arithmetic runs `repeats` times a step, 1 is normal; results do not change. */
  repeatOptimizer(repeats: number): void {
    this.check(this.number("test_repeat_optimizer", repeats));
  }

  /** Switches the profile of the next steps on or off; `profile` answers milliseconds by operation of the last step. */
  enableProfile(enabled: boolean): void {
    this.check(this.number("profile_enable", enabled ? 1 : 0));
  }
  profile(): { name: string; milliseconds: number }[] {
    return Array.from({ length: this.number("profile_count") }, (_, index) => ({
      name: this.text(this.address("profile_name", index)),
      milliseconds: this.number("profile_milliseconds", index),
    }));
  }

  /** Multiply-adds of one f32 matrix product C[m,n] = A[m,k] B[k,n], `repeats` times; returns milliseconds each. */
  benchGemm(m: number, n: number, k: number, repeats: number): number {
    return this.number("bench_gemm", m, n, k, repeats);
  }

  /** GFLOP/s of one thread's multiply-adds on registers alone. */
  benchPeak(rounds: number): number {
    return this.number("bench_peak", rounds);
  }

  /** Facts about the build and what it chose at run time: microkernel, whether relaxed madd is fused, threads. */
  buildFacts(): Record<string, string | number | boolean> {
    return JSON.parse(this.text(this.address("build_facts"))) as Record<string, string | number | boolean>;
  }

  /** Ends the pool's workers. The module must not be used afterwards. */
  dispose(): void {
    this.module.PThread?.terminateAllThreads();
  }

  private shapeArguments(shape: ModelShape): number[] {
    return [shape.layers, shape.d_model, shape.ctx, shape.batch, shape.heads];
  }

  private call(name: string, values: (number | bigint)[]): number | bigint {
    const exported = this.module[`_assay_${name}`];
    if (exported === undefined) throw new TrainerError(-1, `the build ${this.variant} exports no assay_${name}`);
    return exported(...values);
  }

  private number(name: string, ...values: (number | bigint)[]): number {
    return Number(this.call(name, values));
  }

  /** A returned pointer as a byte offset: bigint in Memory64, and possibly negative past 2 GiB in 32-bit builds. */
  private address(name: string, ...values: (number | bigint)[]): number {
    const result = this.call(name, values);
    return typeof result === "bigint" ? Number(result) : result >>> 0;
  }

  private pointer(address: number): number | bigint {
    return isMemory64(this.variant) ? BigInt(address) : address;
  }

  private hostBuffer(): number {
    return this.address("host_buffer");
  }

  private digest(name: string, ...values: number[]): string {
    const out = this.hostBuffer();
    this.check(this.number(name, ...values, this.pointer(out)));
    const bytes = new Uint8Array(this.memory.buffer, out, 32);
    return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  }

  private check(status: number): void {
    if (status !== 0) throw new TrainerError(status, this.lastError());
  }

  private lastError(): string {
    return this.text(this.address("last_error"));
  }

  private text(address: number): string {
    const bytes = new Uint8Array(this.memory.buffer, address);
    let end = 0;
    while (bytes[end] !== 0) end += 1;
    // TextDecoder refuses views of shared memory, so the bytes are copied first.
    return new TextDecoder().decode(bytes.slice(0, end));
  }
}

function modeNumber(mode: TrainerMode): number {
  return mode === "train" ? 0 : 1;
}
