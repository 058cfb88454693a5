// One dispatch of a plan, and what makes it: pipeline, bind group, workgroups, and the tile of a matrix product.

import { chooseTile, tileConstants, tileName, workgroupsOf, type GemmShape, type GemmTile, type WorkgroupLimits } from "./gemm_choice";
import type { KernelLibrary, Overrides } from "./kernel_library";
import { bytesOf, type BufferName, type ModelBuffers } from "./model_buffers";

export interface Dispatch {
  label: string;
  pipeline: GPUComputePipeline;
  bind_group: GPUBindGroup;
  x: number;
  y: number;
  /** Floating-point operations, for splitting long work and for reports. */
  flops: number;
}

export interface PlanOptions {
  subgroups: boolean;
  workgroup: WorkgroupLimits;
  /** Every kernel's plain version. */
  naive: boolean;
  /** Overrules the choice of a tile, by the product's name; from autotuning. */
  tiles?: Record<string, GemmTile>;
  /** Overrule the attention kernels' tiles. */
  attention_forward?: AttentionTile;
  attention_backward?: AttentionTile;
}

/** A range of a buffer, in numbers. */
export interface Range {
  buffer: BufferName;
  offset: number;
  size: number;
}

const max_workgroups = 65535;

type Epilogue = "none" | "bias" | "gelu" | "residual" | "gelu-derivative";
const epilogue_codes: Record<Epilogue, number> = { none: 0, bias: 1, gelu: 2, residual: 3, "gelu-derivative": 4 };

export interface GemmRequest {
  name: string;
  label: string;
  m: number;
  n: number;
  k: number;
  trans_a?: boolean;
  trans_b?: boolean;
  epilogue?: Epilogue;
  a: Range;
  b: Range;
  bias?: Range;
  extra?: Range;
  c: Range;
  pre_activation?: Range;
  layers?: number;
  splits?: number;
  overrides?: Overrides;
}

/** Makes dispatches over one set of buffers. */
export class DispatchFactory {
  readonly tiles: Record<string, string> = {};

  constructor(
    private readonly device_: GPUDevice,
    private readonly library_: KernelLibrary,
    private readonly buffers_: ModelBuffers,
    private readonly options_: PlanOptions,
    private readonly vectorised_: boolean,
    private readonly half_: boolean,
  ) {}

  /** True when the fast kernels, which read four numbers at once, take this model. */
  get vectorised(): boolean {
    return this.vectorised_;
  }

  async make(label: string, kernel: string, overrides: Overrides, ranges: Range[], workgroups: number, flops = 0): Promise<Dispatch> {
    const { bindings } = this.library_.describe(kernel);
    const bytes = ranges.map(({ buffer }) => bytesOf(buffer, this.half_));
    const half = bindings.filter((_, index) => bytes[index] === 2).map(({ name }) => name);
    const [pipeline, layout] = await Promise.all([this.library_.pipeline(kernel, overrides, half), this.library_.bindGroupLayout(kernel)]);
    const bind_group = this.device_.createBindGroup({
      label,
      layout,
      entries: ranges.map((range, binding) => ({
        binding,
        resource: { buffer: this.buffers_[range.buffer], offset: bytes[binding]! * range.offset, size: bytes[binding]! * range.size },
      })),
    });
    const x = Math.min(workgroups, max_workgroups);
    return { label, pipeline, bind_group, x, y: Math.ceil(workgroups / x), flops };
  }

  /** The fast kernel with one workgroup count, or the plain one with another. */
  either(label: string, kernel: string, overrides: Overrides, naive_overrides: Overrides, ranges: Range[], fast: number, naive: number): Promise<Dispatch> {
    if (this.vectorised_) return this.make(label, kernel, overrides, ranges, fast);
    const name = `${kernel.replace("_subgroups", "")}_naive`;
    return this.make(label, name, naive_overrides, ranges, naive);
  }

  async gemm(request: GemmRequest): Promise<Dispatch> {
    const { m, n, k } = request;
    const layers = request.layers ?? 1;
    const splits = request.splits ?? 1;
    const shape: GemmShape = { m, n, k: Math.ceil(k / splits), copies: layers * splits, k_is_rows: request.trans_a ?? false };
    const tile =
      this.options_.tiles?.[request.name] ?? chooseTile(shape, this.vectorised_, this.options_.workgroup);
    this.tiles[request.name] = tileName(tile);
    const overrides: Overrides = {
      M: m,
      N: n,
      K: k,
      TRANS_A: request.trans_a ?? false,
      TRANS_B: request.trans_b ?? false,
      EPILOGUE: epilogue_codes[request.epilogue ?? "none"],
      LAYERS: layers,
      SPLITS: splits,
      K_PER_SPLIT: splits === 1 ? k : 8 * Math.ceil(k / splits / 8),
      ...request.overrides,
      ...tileConstants(tile),
    };
    // An operand that a product has not still needs a binding: parameters for reading, a small buffer for writing.
    const nothing: Range = { buffer: "parameters", offset: 0, size: 64 };
    const ranges = [
      request.a,
      request.b,
      request.bias ?? nothing,
      request.extra ?? nothing,
      request.c,
      request.pre_activation ?? { buffer: "unused", offset: 0, size: 64 },
    ];
    return this.make(request.label, tile.kernel, overrides, ranges, workgroupsOf(tile, shape), 2 * m * n * k * layers);
  }
}

/** Tile of an attention kernel: rows a workgroup and invocations that share one. */
export interface AttentionTile {
  ROWS: number;
  SPLITS: number;
}

export function attentionTile(head_size: number, direction: "forward" | "backward"): AttentionTile {
  // The tile takes 2 * ROWS * SPLITS * head_size bytes of workgroup storage, which the default limit holds at 16 KiB.
  if (head_size <= 32) return direction === "forward" ? { ROWS: 16, SPLITS: 8 } : { ROWS: 32, SPLITS: 4 };
  if (head_size <= 64) return { ROWS: 16, SPLITS: 4 };
  return { ROWS: 16, SPLITS: 2 };
}
