// Which kernel and tile a matrix product gets. Pure; the candidates are also what autotuning tries.

export interface GemmShape {
  m: number;
  n: number;
  k: number;
  /** Independent products of this shape that run in the same dispatch (layers times splits of k). */
  copies: number;
  /** A weight gradient: both operands have k as rows. */
  k_is_rows?: boolean;
}

export interface GemmTile {
  kernel: "gemm_4x4" | "gemm_8x8" | "gemm_naive";
  tx: number;
  ty: number;
  slices: number;
  bk: number;
  /** 2 where one tile is filled while the other is used. */
  buffers?: number;
  /** gemm_8x8 only: neighbouring invocations own results along a Z-shaped curve, not along rows. */
  curve?: boolean;
}

const naive: GemmTile = { kernel: "gemm_naive", tx: 1, ty: 1, slices: 1, bk: 1 };

/** From the largest tile to the smallest. Each holds at most one 4 x 4 block of operands an invocation. */
export const gemm_tiles: readonly GemmTile[] = [
  { kernel: "gemm_8x8", tx: 16, ty: 32, slices: 1, bk: 16 }, // 256 x 128
  { kernel: "gemm_8x8", tx: 16, ty: 16, slices: 1, bk: 16, buffers: 2 }, // 128 x 128
  { kernel: "gemm_8x8", tx: 16, ty: 16, slices: 1, bk: 16 }, // 128 x 128
  { kernel: "gemm_8x8", tx: 8, ty: 16, slices: 1, bk: 8, buffers: 2 }, // 128 x 64
  { kernel: "gemm_8x8", tx: 8, ty: 8, slices: 2, bk: 16, buffers: 2, curve: true }, // 64 x 64
  { kernel: "gemm_8x8", tx: 8, ty: 8, slices: 2, bk: 16, buffers: 2 }, // 64 x 64
  { kernel: "gemm_8x8", tx: 8, ty: 8, slices: 2, bk: 16 }, // 64 x 64
  { kernel: "gemm_8x8", tx: 8, ty: 8, slices: 4, bk: 32 }, // 64 x 64
  { kernel: "gemm_4x4", tx: 16, ty: 16, slices: 1, bk: 32 }, // 64 x 64
  { kernel: "gemm_4x4", tx: 16, ty: 16, slices: 1, bk: 32, buffers: 2 }, // 64 x 64
  { kernel: "gemm_4x4", tx: 8, ty: 16, slices: 1, bk: 16 }, // 64 x 32
  { kernel: "gemm_4x4", tx: 8, ty: 16, slices: 1, bk: 16, buffers: 2 }, // 64 x 32
  { kernel: "gemm_4x4", tx: 8, ty: 16, slices: 2, bk: 32 }, // 64 x 32
  { kernel: "gemm_4x4", tx: 8, ty: 16, slices: 2, bk: 32, buffers: 2 }, // 64 x 32
  { kernel: "gemm_8x8", tx: 4, ty: 4, slices: 4, bk: 16, buffers: 2 }, // 32 x 32
  { kernel: "gemm_8x8", tx: 4, ty: 4, slices: 4, bk: 16 }, // 32 x 32
  { kernel: "gemm_8x8", tx: 4, ty: 4, slices: 8, bk: 32 }, // 32 x 32
  { kernel: "gemm_8x8", tx: 4, ty: 4, slices: 8, bk: 32, buffers: 2 }, // 32 x 32
  { kernel: "gemm_8x8", tx: 4, ty: 4, slices: 16, bk: 64 }, // 32 x 32
  { kernel: "gemm_4x4", tx: 8, ty: 8, slices: 1, bk: 16 }, // 32 x 32
  { kernel: "gemm_4x4", tx: 8, ty: 8, slices: 2, bk: 32 }, // 32 x 32
  { kernel: "gemm_4x4", tx: 8, ty: 8, slices: 2, bk: 32, buffers: 2 }, // 32 x 32
  { kernel: "gemm_4x4", tx: 8, ty: 8, slices: 4, bk: 64 }, // 32 x 32
  { kernel: "gemm_4x4", tx: 8, ty: 8, slices: 4, bk: 64, buffers: 2 }, // 32 x 32
];

export function tileName(tile: GemmTile): string {
  if (tile.kernel === "gemm_naive") return "naive";
  const edge = edgeOf(tile);
  return `${tile.kernel.slice(5)} ${tile.ty * edge}x${tile.tx * edge}x${tile.bk}${tile.slices > 1 ? ` / ${tile.slices}` : ""}${tile.buffers === 2 ? ", 2 buffers" : ""}${tile.curve ? ", curve" : ""}`;
}

function edgeOf(tile: GemmTile): number {
  return tile.kernel === "gemm_8x8" ? 8 : 4;
}

export function workgroupsOf(tile: GemmTile, shape: GemmShape): number {
  if (tile.kernel === "gemm_naive") return Math.ceil((shape.m * shape.n * shape.copies) / 64);
  const edge = edgeOf(tile);
  return Math.ceil(shape.m / (tile.ty * edge)) * Math.ceil(shape.n / (tile.tx * edge)) * shape.copies;
}

/** Vectors of workgroup storage a tile takes: rows of k, or what its teams hand over. */
export function vectorsOf(tile: GemmTile): number {
  if (tile.kernel === "gemm_naive") return 0;
  const vectors = edgeOf(tile) / 4;
  const operands = (tile.buffers ?? 1) * tile.bk * vectors * (tile.tx + tile.ty);
  const handed_over = tile.kernel === "gemm_8x8" && tile.slices > 1 ? 4 * tile.tx * tile.ty * tile.slices : 0;
  return Math.max(operands, handed_over);
}

export function storageOf(tile: GemmTile): number {
  return 16 * vectorsOf(tile);
}

/** The constants that make a kernel this tile. */
export function tileConstants(tile: GemmTile): Record<string, number> {
  if (tile.kernel === "gemm_naive") return {};
  const constants = { TX: tile.tx, TY: tile.ty, BK: tile.bk, SLICES: tile.slices, BUFFERS: tile.buffers ?? 1 };
  return tile.kernel === "gemm_8x8" ? { ...constants, TILE_VECTORS: vectorsOf(tile), CURVE: Number(tile.curve ?? false) } : constants;
}

/** What a device lets one workgroup have. */
export interface WorkgroupLimits {
  storage_bytes: number;
  invocations: number;
}

/** Tiles that fit a workgroup, from the largest to the smallest. */
export function tilesWithin(limits: WorkgroupLimits): GemmTile[] {
  return gemm_tiles.filter(
    (tile) => storageOf(tile) <= limits.storage_bytes && tile.tx * tile.ty * tile.slices <= limits.invocations,
  );
}

const huge = { kernel: "gemm_8x8", tx: 16, ty: 32, slices: 1, bk: 16 } as const;
const wide = { kernel: "gemm_4x4", tx: 8, ty: 16, slices: 1, bk: 16 } as const;
const wide_in_two = { kernel: "gemm_4x4", tx: 8, ty: 16, slices: 2, bk: 32 } as const;
const small = { kernel: "gemm_4x4", tx: 8, ty: 8, slices: 1, bk: 16 } as const;
const small_in_two = { kernel: "gemm_4x4", tx: 8, ty: 8, slices: 2, bk: 32 } as const;
const small_in_four = { kernel: "gemm_4x4", tx: 8, ty: 8, slices: 4, bk: 64 } as const;
const gradient_huge = { kernel: "gemm_8x8", tx: 8, ty: 8, slices: 2, bk: 16, buffers: 2, curve: true } as const;
const gradient_large = { kernel: "gemm_8x8", tx: 8, ty: 8, slices: 2, bk: 16 } as const;
const gradient_in_eight = { kernel: "gemm_8x8", tx: 4, ty: 4, slices: 8, bk: 32 } as const;
const gradient_in_sixteen = { kernel: "gemm_8x8", tx: 4, ty: 4, slices: 16, bk: 64 } as const;

/**
 * The tile for a shape, from what was measured on a GPU of 132 units: small tiles where a result would leave units idle,
 * k shared among more teams the deeper and the smaller a product is, large tiles once there are enough of them to occupy
 * every unit.
 */
function preferred(shape: GemmShape): GemmTile {
  const small_tiles = Math.ceil(shape.m / 32) * Math.ceil(shape.n / 32) * shape.copies;
  const large_tiles = Math.ceil(shape.m / 64) * Math.ceil(shape.n / 64) * shape.copies;
  const huge_tiles = Math.ceil(shape.m / 256) * Math.ceil(shape.n / 128) * shape.copies;
  if (shape.k_is_rows) {
    if (large_tiles >= 4000) return gradient_huge;
    if (large_tiles >= 200) return gradient_large;
    return small_tiles < 100 ? gradient_in_sixteen : gradient_in_eight;
  }
  if (huge_tiles >= 128) return huge;
  if (large_tiles >= 400) return wide;
  if (shape.k >= 512) return small_in_four;
  if (shape.k >= 256) return small_tiles >= 600 ? wide : small_in_four;
  if (shape.k >= 160) return small_tiles >= 700 ? small : small_in_four;
  return small_tiles >= 700 ? wide_in_two : small_in_two;
}

/** The preferred tile, or the largest that a workgroup of this device holds where it does not hold that one. */
export function chooseTile(shape: GemmShape, vectorised: boolean, limits: WorkgroupLimits): GemmTile {
  if (!vectorised) return naive;
  const wanted = preferred(shape);
  const fitting = tilesWithin(limits);
  return fitting.find((tile) => tileName(tile) === tileName(wanted)) ?? fitting.at(-1) ?? naive;
}
