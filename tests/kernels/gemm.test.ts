// Every matrix product kernel against the double-precision one, on shapes that fill no tile.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chooseTile, gemm_tiles, tileConstants, tileName, tilesWithin, workgroupsOf, type GemmTile } from "../../trainer_wasm/web/webgpu/gemm_choice";
import * as reference from "./reference";
import { numbers, relativeError } from "./support/inputs";
import { KernelSession } from "./support/session";

let session: KernelSession;
beforeAll(async () => {
  session = await KernelSession.open();
});
afterAll(() => session?.close());

interface Case {
  m: number;
  n: number;
  k: number;
  trans_a?: boolean;
  trans_b?: boolean;
  epilogue?: number;
}

/** What the software adapter lets a workgroup have. A tile beyond it is a smaller one's code with other constants. */
const software_adapter = { storage_bytes: 32_768, invocations: 256 };

/** Stands for an operand that a product has not. */
const none = [0, 0, 0, 0];
const naive: GemmTile = { kernel: "gemm_naive", tx: 1, ty: 1, slices: 1, bk: 1 };

async function product(tile: GemmTile, { m, n, k, trans_a = false, trans_b = false, epilogue = 0 }: Case) {
  const [a, b, bias, extra] = [numbers(m * k, 1), numbers(k * n, 2), numbers(n, 3), numbers(m * n, 4, 2)];
  const [c, before] = (await session.run({
    kernel: tile.kernel,
    overrides: { M: m, N: n, K: k, TRANS_A: trans_a, TRANS_B: trans_b, EPILOGUE: epilogue, ...tileConstants(tile) },
    bindings: [a, b, bias, extra, new Array<number>(m * n).fill(9), new Array<number>(m * n).fill(9)],
    workgroups: workgroupsOf(tile, { m, n, k, copies: 1 }),
    read: [4, 5],
  })) as [number[], number[]];
  const plain = reference.gemm(Float64Array.from(a), Float64Array.from(b), m, n, k, { trans_a, trans_b });
  const biased = reference.addRow(plain, Float64Array.from(bias));
  const wanted = [
    plain,
    biased,
    reference.gelu(biased),
    reference.add(biased, Float64Array.from(extra)),
    reference.geluBackward(plain, Float64Array.from(extra)),
  ][epilogue]!;
  expect(relativeError(c, wanted)).toBeLessThan(2e-6);
  if (epilogue === 2) expect(relativeError(before, biased)).toBeLessThan(2e-6);
}

describe("the choice of a tile", () => {
  const large_adapter = { storage_bytes: 32_768, invocations: 512 };
  const name = (shape: Parameters<typeof chooseTile>[0], limits: typeof large_adapter) => tileName(chooseTile(shape, true, limits));

  it("gives a product that fills a large GPU many times over its largest tile, where a workgroup holds that", () => {
    const shape = { m: 4096, n: 4096, k: 4096, copies: 1 };
    expect(name(shape, large_adapter)).toBe("8x8 256x128x16");
    expect(name({ ...shape, k_is_rows: true }, large_adapter)).toBe("8x8 64x64x16 / 2, 2 buffers, curve");
    const smaller = tilesWithin(software_adapter).map(tileName);
    expect(smaller).toContain(name(shape, software_adapter));
  });

  it("gives a product of few results small tiles, so that no unit stands idle", () => {
    expect(name({ m: 1024, n: 96, k: 384, copies: 1 }, large_adapter)).toBe("4x4 32x32x64 / 4");
  });
});

describe("a matrix product", () => {
  const orientations = [
    { trans_a: false, trans_b: false, epilogue: 2 },
    { trans_a: false, trans_b: true, epilogue: 4 },
    { trans_a: true, trans_b: false, epilogue: 0 },
    { trans_a: false, trans_b: false, epilogue: 3 },
  ];
  tilesWithin(software_adapter).forEach((tile, index) => {
    const orientation = orientations[index % orientations.length]!;
    it(`agrees with double precision: tile ${tileName(tile)}, ${JSON.stringify(orientation)}`, async () => {
      // A transposed operand's contiguous dimension is a multiple of 4; the others need not be.
      await product(tile, { m: orientation.trans_a ? 68 : 67, n: 36, k: orientation.trans_a ? 77 : 76, ...orientation });
    });
  });

  for (const orientation of [...orientations, { trans_a: true, trans_b: true, epilogue: 1 }]) {
    it(`agrees with double precision: plain, ${JSON.stringify(orientation)}`, async () => {
      await product(naive, { m: 13, n: 7, k: 11, ...orientation });
    });
  }

  const of_teams = (kernel: string) => gemm_tiles.find((tile) => tile.kernel === kernel && tile.slices > 1 && tile.buffers === 2)!;
  for (const tile of [of_teams("gemm_8x8"), of_teams("gemm_4x4"), naive]) {
    it(`sums layers and ranges of k apart, with column sums: ${tile.kernel} ${tileName(tile)}`, async () => {
      const [layers, splits, m, n, k] = [2, 2, 36, 40, 51];
      const per_split = 32;
      const [a, b] = [numbers(layers * k * m, 5), numbers(layers * k * n, 6)];
      const layer_size = m * n + n;
      const [c] = (await session.run({
        kernel: tile.kernel,
        overrides: {
          M: m, N: n, K: k, TRANS_A: true, LAYERS: layers, SPLITS: splits, K_PER_SPLIT: per_split,
          A_LAYER_STRIDE: k * m, B_LAYER_STRIDE: k * n, C_BASE: 4, C_LAYER_STRIDE: layer_size, C_SPLIT_STRIDE: layers * layer_size,
          COLUMN_SUMS: true, COLUMN_SUMS_BASE: 4 + m * n, ...tileConstants(tile),
        },
        bindings: [a, b, none, none, new Array<number>(4 + splits * layers * layer_size).fill(9), none],
        workgroups: workgroupsOf(tile, { m, n, k, copies: layers * splits }),
        read: [4],
      })) as [number[]];
      expect(c.slice(0, 4)).toEqual([9, 9, 9, 9]);
      for (let split = 0; split < splits; split += 1) {
        for (let layer = 0; layer < layers; layer += 1) {
          const rows = Math.min(k, (split + 1) * per_split) - split * per_split;
          const part = (all: number[], width: number) =>
            Float64Array.from(all.slice((layer * k + split * per_split) * width, (layer * k + split * per_split + rows) * width));
          const start = 4 + (split * layers + layer) * layer_size;
          const wanted = reference.gemm(part(a, m), part(b, n), m, n, rows, { trans_a: true });
          expect(relativeError(c.slice(start, start + m * n), wanted)).toBeLessThan(2e-6);
          expect(relativeError(c.slice(start + m * n, start + layer_size), reference.columnSums(part(b, n), n))).toBeLessThan(2e-6);
        }
      }
    });
  }
});
