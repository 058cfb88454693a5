// Which kernel and tile a matrix product gets. Pure; the candidates are also what autotuning tries.

export interface GemmShape {
  m: number;
  n: number;
  k: number;
  /** Independent products of this shape that run in the same dispatch (layers times splits of k). */
  copies: number;
}

export interface GemmTile {
  kernel: "gemm_4x4" | "gemm_8x8" | "gemm_naive";
  tx: number;
  ty: number;
  slices: number;
  bk: number;
}

const naive: GemmTile = { kernel: "gemm_naive", tx: 1, ty: 1, slices: 1, bk: 1 };

/** From the largest tile to the smallest. Each holds at most one 4 x 4 block of operands an invocation. */
export const gemm_tiles: readonly GemmTile[] = [
  { kernel: "gemm_8x8", tx: 16, ty: 16, slices: 1, bk: 16 }, // 128 x 128
  { kernel: "gemm_8x8", tx: 8, ty: 16, slices: 2, bk: 16 }, // 128 x 64
  { kernel: "gemm_8x8", tx: 8, ty: 16, slices: 1, bk: 8 }, // 128 x 64
  { kernel: "gemm_8x8", tx: 8, ty: 8, slices: 2, bk: 16 }, // 64 x 64
  { kernel: "gemm_8x8", tx: 8, ty: 8, slices: 4, bk: 32 }, // 64 x 64
  { kernel: "gemm_4x4", tx: 16, ty: 16, slices: 1, bk: 32 }, // 64 x 64
  { kernel: "gemm_8x8", tx: 4, ty: 8, slices: 4, bk: 16 }, // 64 x 32
  { kernel: "gemm_8x8", tx: 4, ty: 8, slices: 8, bk: 32 }, // 64 x 32
  { kernel: "gemm_4x4", tx: 8, ty: 16, slices: 1, bk: 16 }, // 64 x 32
  { kernel: "gemm_4x4", tx: 8, ty: 16, slices: 2, bk: 32 }, // 64 x 32
  { kernel: "gemm_8x8", tx: 4, ty: 4, slices: 4, bk: 16 }, // 32 x 32
  { kernel: "gemm_8x8", tx: 4, ty: 4, slices: 8, bk: 32 }, // 32 x 32
  { kernel: "gemm_8x8", tx: 4, ty: 4, slices: 16, bk: 64 }, // 32 x 32
  { kernel: "gemm_4x4", tx: 8, ty: 8, slices: 1, bk: 16 }, // 32 x 32
  { kernel: "gemm_4x4", tx: 8, ty: 8, slices: 2, bk: 32 }, // 32 x 32
  { kernel: "gemm_4x4", tx: 8, ty: 8, slices: 4, bk: 64 }, // 32 x 32
];

export function tileName(tile: GemmTile): string {
  if (tile.kernel === "gemm_naive") return "naive";
  const edge = edgeOf(tile);
  return `${tile.kernel.slice(5)} ${tile.ty * edge}x${tile.tx * edge}x${tile.bk}${tile.slices > 1 ? ` / ${tile.slices}` : ""}`;
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
  const operands = tile.bk * vectors * (tile.tx + tile.ty);
  const handed_over = tile.kernel === "gemm_8x8" && tile.slices > 1 ? 4 * tile.tx * tile.ty * tile.slices : 0;
  return Math.max(operands, handed_over);
}

export function storageOf(tile: GemmTile): number {
  return 16 * vectorsOf(tile);
}

/** The constants that make a kernel this tile. */
export function tileConstants(tile: GemmTile): Record<string, number> {
  if (tile.kernel === "gemm_naive") return {};
  const constants = { TX: tile.tx, TY: tile.ty, BK: tile.bk, SLICES: tile.slices };
  return tile.kernel === "gemm_8x8" ? { ...constants, TILE_VECTORS: vectorsOf(tile) } : constants;
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

/**
 * The tile for a shape: the largest whose workgroups keep about `busy_workgroups` units of the GPU occupied, since a
 * larger tile reads less but a half-empty GPU is idle; deep products get their k shared among teams first.
 */
export function chooseTile(shape: GemmShape, vectorised: boolean, limits: WorkgroupLimits, busy_workgroups = 132): GemmTile {
  if (!vectorised) return naive;
  const tiles = tilesWithin(limits);
  for (const tile of tiles) {
    const invocations = workgroupsOf(tile, shape) * tile.tx * tile.ty * tile.slices;
    // 8 x 8 tiles keep a unit busy with one workgroup of 256; small ones need several to hide their latency.
    const enough = tile.kernel === "gemm_8x8" ? busy_workgroups * 256 : busy_workgroups * 224;
    if (invocations >= enough && workgroupsOf(tile, shape) >= busy_workgroups) return tile;
  }
  return tiles[tiles.length - 1]!;
}
