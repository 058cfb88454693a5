// Every other kernel, fast and plain, against the double-precision operation, on odd shapes.

import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { layOutBatch, packBatch } from "../../trainer_wasm/web/webgpu/batch_words";
import * as reference from "./reference";
import { numbers, relativeError, tokens } from "./support/inputs";
import { KernelSession } from "./support/session";

let session: KernelSession;
beforeAll(async () => {
  session = await KernelSession.open();
});
afterAll(() => session?.close());

const exact = (list: number[]) => Float64Array.from(list);
const nines = (count: number) => new Array<number>(count).fill(9);
const tolerance = 3e-6;

function batchOf(ctx: number, sequences: number, step = 1) {
  const count = ctx * sequences;
  const places = layOutBatch(count);
  const words = new Uint32Array(places.words);
  const batch = { tokens: Int32Array.from(tokens(count, 1)), targets: Int32Array.from(tokens(count, 2)) };
  packBatch(words, places, batch, step);
  return { places, words: Array.from(words), ...batch };
}

describe("the adapter of these tests", () => {
  it("is a real WebGPU adapter whose subgroup size nothing here may assume", async () => {
    const adapter = await session.call("adapter");
    expect(adapter.features).toContain("core-features-and-limits");
    // SwiftShader's subgroups are 4 wide: the subgroup kernels below then run on that size.
    if (adapter.vendor === "google") expect(adapter.subgroup_min_size).toBe(4);
  });
});

describe("kernels.json", () => {
  it("names every shader file, with the bindings and access modes that the file declares", () => {
    const folder = new URL("../../shaders/", import.meta.url);
    const index = JSON.parse(readFileSync(new URL("kernels.json", folder), "utf8")) as {
      kernels: Record<string, { file: string; bindings: { name: string; access: string; element: string }[]; required_overrides: string[]; reference: string }>;
    };
    for (const [name, kernel] of Object.entries(index.kernels)) {
      const source = readFileSync(new URL(kernel.file, folder), "utf8");
      const declared = [...source.matchAll(/@group\(0\) @binding\((\d+)\) var<storage, (\w+)> (\w+): array<(\w+)>;/g)];
      const aliases = new Map([...source.matchAll(/^alias (\w+) = (\w+);$/gm)].map(([, alias, type]) => [alias, type]));
      expect(declared.map(([, , access, binding, element]) => ({ name: binding, access, element: aliases.get(element) ?? element })), name).toEqual(kernel.bindings);
      expect(declared.map(([, index_in_file]) => Number(index_in_file)), name).toEqual(kernel.bindings.map((_, i) => i));
      expect(declared.length, name).toBeLessThanOrEqual(8);
      const overrides = [...source.matchAll(/^override (\w+): (?:u32|f32|bool);/gm)].map(([, override]) => override);
      expect(overrides, name).toEqual(kernel.required_overrides);
      expect(source.startsWith("// "), name).toBe(true);
    }
  });
});

describe("the copy of the parameters", () => {
  it("is the parameters themselves where it holds f32, and nothing beyond them", async () => {
    const parameters = numbers(1100, 9);
    const [rounded] = (await session.run({
      kernel: "copy_parameters",
      overrides: { SIZE: 1096 },
      bindings: [parameters, nines(1100)],
      workgroups: 2,
      read: [1],
    })) as [number[]];
    expect(rounded).toEqual([...parameters.slice(0, 1096), 9, 9, 9, 9]);
  });
});

for (const variant of ["", "_subgroups", "_naive"]) {
  describe(`layer normalisation${variant}`, () => {
    const [rows, width] = [5, variant === "_naive" ? 37 : 300];
    const workgroups = variant === "_naive" ? 1 : rows;
    const [x, gain, bias, dy, residual] = [numbers(rows * width, 1, 3), numbers(width, 2), numbers(width, 3), numbers(rows * width, 4), numbers(rows * width, 5)];
    it("goes forward as in double precision", async () => {
      const [out, statistics] = (await session.run({
        kernel: `layer_norm_forward${variant}`,
        overrides: { ROWS: rows, WIDTH: width },
        bindings: [x, gain, bias, nines(rows * width), nines(2 * rows)],
        workgroups,
        read: [3, 4],
      })) as [number[], number[]];
      const wanted = reference.layerNormForward(exact(x), exact(gain), exact(bias), width);
      expect(relativeError(out, wanted.out)).toBeLessThan(tolerance);
      expect(relativeError(statistics, wanted.statistics)).toBeLessThan(tolerance);
    });
    for (const has_residual of [true, false]) {
      it(`goes backward as in double precision, ${has_residual ? "with" : "without"} a residual`, async () => {
        const { statistics } = reference.layerNormForward(exact(x), exact(gain), exact(bias), width);
        const [dx] = (await session.run({
          kernel: `layer_norm_backward${variant}`,
          overrides: { ROWS: rows, WIDTH: width, HAS_RESIDUAL: has_residual },
          bindings: [dy, x, Array.from(statistics), gain, residual, nines(rows * width)],
          workgroups,
          read: [5],
        })) as [number[]];
        const alone = reference.layerNormBackward(exact(dy), exact(x), statistics, exact(gain), width);
        expect(relativeError(dx, has_residual ? reference.add(alone, exact(residual)) : alone)).toBeLessThan(tolerance);
      });
    }
  });
}

for (const variant of ["", "_naive"]) {
  const is_naive = variant === "_naive";

  describe(`the gradients of normalisations' parameters${variant}`, () => {
    it("are those of double precision for every normalisation", async () => {
      const [rows, width, layers] = [21, is_naive ? 7 : 44, 2];
      const [padded, first_at, second_at] = [64, 128, 256];
      const layer_stride = 512;
      const last_at = first_at + layers * layer_stride;
      const matrix = rows * width;
      const [block_input, middle, dy] = [numbers((layers + 1) * matrix, 1), numbers(layers * matrix, 2), numbers((2 * layers + 1) * matrix, 3)];
      const inputs = Array.from({ length: 2 * layers + 1 }, (_, norm) => {
        const source = norm % 2 === 0 ? block_input : middle;
        return exact(source.slice(Math.floor(norm / 2) * matrix, (Math.floor(norm / 2) + 1) * matrix));
      });
      const ones = new Float64Array(width).fill(1);
      const statistics = inputs.map((x) => reference.layerNormForward(x, ones, ones, width).statistics);
      const [gradients] = (await session.run({
        kernel: `layer_norm_parameters${variant}`,
        overrides: {
          ROWS: rows, WIDTH: width, LAYERS: layers, X_STRIDE: matrix, STATISTICS_STRIDE: 2 * rows, WIDTH_PADDED: padded,
          FIRST_LAYER_AT: first_at, LAYER_STRIDE: layer_stride, SECOND_NORM_AT: second_at, LAST_NORM_AT: last_at,
        },
        bindings: [block_input, middle, dy, statistics.flatMap((s) => Array.from(s)), nines(last_at + 2 * padded)],
        workgroups: is_naive ? 1 : (2 * layers + 1) * Math.ceil(width / 32),
        read: [4],
      })) as [number[]];
      inputs.forEach((x, norm) => {
        const wanted = reference.layerNormParameters(exact(dy.slice(norm * matrix, (norm + 1) * matrix)), x, statistics[norm]!, width);
        const at = norm === 2 * layers ? last_at : first_at + Math.floor(norm / 2) * layer_stride + (norm % 2) * second_at;
        expect(relativeError(gradients.slice(at, at + width), wanted.gain)).toBeLessThan(tolerance);
        expect(relativeError(gradients.slice(at + padded, at + padded + width), wanted.bias)).toBeLessThan(tolerance);
      });
    });
  });

  describe(`the embedding${variant}`, () => {
    const [ctx, sequences, width] = [7, 5, is_naive ? 11 : 76];
    const batch = batchOf(ctx, sequences);
    const count = ctx * sequences;
    it("goes forward as in double precision", async () => {
      const [token_table, position_table] = [numbers(256 * width, 1), numbers(ctx * width, 2)];
      const [x] = (await session.run({
        kernel: `embed_forward${variant}`,
        overrides: { TOKENS: count, CTX: ctx, WIDTH: width, TOKENS_AT: batch.places.tokens_at },
        bindings: [batch.words, token_table, position_table, nines(count * width)],
        words: [0],
        workgroups: Math.ceil((count * width) / 64),
        read: [3],
      })) as [number[]];
      expect(relativeError(x, reference.embedForward(batch.tokens, exact(token_table), exact(position_table), ctx, width))).toBeLessThan(tolerance);
    });
    it("goes backward as a gather that writes every row, used or not", async () => {
      const dx = numbers(count * width, 3);
      const positions_at = 256 * width;
      const [gradients] = (await session.run({
        kernel: `embed_backward${variant}`,
        overrides: {
          TOKENS: count, CTX: ctx, WIDTH: width, RESULT_AT: 0, POSITIONS_AT: positions_at,
          ...(is_naive ? { TOKENS_AT: batch.places.tokens_at } : { ORDER_AT: batch.places.order_at, STARTS_AT: batch.places.starts_at }),
        },
        bindings: [batch.words, dx, nines((256 + ctx) * width)],
        words: [0],
        workgroups: is_naive ? Math.ceil(((256 + ctx) * width) / 64) : (256 + ctx) * Math.ceil(width / 64),
        read: [2],
      })) as [number[]];
      const wanted = reference.embedBackward(batch.tokens, exact(dx), ctx, width);
      expect(relativeError(gradients.slice(0, positions_at), wanted.token_table)).toBeLessThan(tolerance);
      expect(relativeError(gradients.slice(positions_at), wanted.position_table)).toBeLessThan(tolerance);
    });
  });

  describe(`cross-entropy${variant}`, () => {
    it("gives each row's loss and the logits' gradient, for large logits too", async () => {
      const batch = batchOf(9, 3);
      const logits = numbers(27 * 256, 1, 60);
      const [d_logits, row_loss] = (await session.run({
        kernel: `cross_entropy${variant}`,
        overrides: { TOKENS: 27, TARGETS_AT: batch.places.targets_at },
        bindings: [batch.words, logits, nines(27)],
        words: [0],
        workgroups: is_naive ? 1 : 27,
        read: [1, 2],
      })) as [number[], number[]];
      const wanted = reference.crossEntropy(exact(logits), batch.targets);
      expect(relativeError(row_loss, wanted.row_loss)).toBeLessThan(tolerance);
      expect(relativeError(d_logits, wanted.d_logits)).toBeLessThan(1e-5);
    });
  });

  describe(`attention${variant}`, () => {
    // A context that fills no tile, and head sizes from the smallest to the largest that the fast kernels take.
    for (const [ctx, head_size, tile] of is_naive
      ? ([[11, 5, {}]] as const)
      : ([[37, 4, { ROWS: 16, SPLITS: 2 }], [45, 32, { ROWS: 32, SPLITS: 4 }], [9, 128, { ROWS: 8, SPLITS: 2 }]] as const)) {
      const shape = { batch: 2, ctx, heads: 2, width: 2 * head_size };
      const count = 2 * ctx;
      const overrides = { BATCH: 2, CTX: ctx, HEADS: 2, WIDTH: shape.width, ...tile };
      const groups = "ROWS" in tile ? Math.ceil(ctx / tile.ROWS) * 4 : Math.ceil((count * shape.width) / 64);
      const qkv = numbers(count * 3 * shape.width, 1, 2);
      it(`goes forward as in double precision: context ${ctx}, heads of ${head_size}`, async () => {
        const [out, log_sum_exp] = (await session.run({
          kernel: `attention_forward${variant}`,
          overrides,
          bindings: [qkv, nines(count * shape.width), nines(4 * ctx)],
          workgroups: groups,
          read: [1, 2],
        })) as [number[], number[]];
        const wanted = reference.attentionForward(exact(qkv), shape);
        expect(relativeError(out, wanted.out)).toBeLessThan(tolerance);
        expect(relativeError(log_sum_exp, wanted.log_sum_exp)).toBeLessThan(tolerance);
      });
      it(`goes backward as in double precision: context ${ctx}, heads of ${head_size}`, async () => {
        const { out, log_sum_exp } = reference.attentionForward(exact(qkv), shape);
        const d_out = numbers(count * shape.width, 2);
        const [d_qkv] = (await session.run({
          kernel: `attention_backward${variant}`,
          overrides,
          bindings: [qkv, Array.from(out), Array.from(log_sum_exp), d_out, nines(count * 3 * shape.width)],
          workgroups: is_naive ? groups : 2 * groups,
          read: [4],
        })) as [number[]];
        expect(relativeError(d_qkv, reference.attentionBackward(exact(qkv), exact(d_out), shape))).toBeLessThan(1e-5);
      });
    }
  });

  describe(`the update${variant}`, () => {
    const [size, slots, extra_size, groups] = [1500, 3, 100, 5];
    it("adds partial gradients up in place and their squares apart", async () => {
      const parts = [1, 2, 3].map((seed) => numbers(size, seed));
      const extra = numbers(extra_size, 4);
      const [gradients, squares] = (await session.run({
        kernel: `gradient_norm${variant}`,
        overrides: { SIZE: size, SLOTS: slots, SLOT_STRIDE: size, EXTRA: extra_size, GROUPS: groups },
        bindings: [[...parts.flat(), ...extra], nines(groups)],
        workgroups: groups,
        read: [0, 1],
      })) as [number[], number[]];
      const wanted = reference.gradientNorm(parts.map(exact), exact(extra));
      expect(relativeError(gradients.slice(0, size), wanted.gradients)).toBeLessThan(tolerance);
      expect(Math.abs(squares.reduce((sum, v) => sum + v, 0) / wanted.squares - 1)).toBeLessThan(1e-5);
    });

    for (const [name, gradient_scale] of [["clips a large gradient", 1], ["leaves a small gradient as it is", 1e-3]] as const) {
      it(`${name} and decays only what decays`, async () => {
        const [layers, layer_stride, first_at] = [2, 400, 200];
        const batch = batchOf(5, 2, 3);
        const state = [numbers(size, 1), numbers(size, 2, 0.1), numbers(size, 3, 0.1).map(Math.abs)] as const;
        const gradients = numbers(size, 4, gradient_scale);
        const squares = gradients.reduce((sum, v) => sum + v * v, 0);
        const row_loss = numbers(10, 5);
        const [parameters, first, second, result] = (await session.run({
          kernel: `adamw${variant}`,
          overrides: {
            SIZE: size, PARTIALS: 4, TOKENS: 10, DECAY_0_END: 152, FIRST_LAYER_AT: first_at, LAYERS: layers, LAYER_STRIDE: layer_stride,
            DECAY_1_BEGIN: 8, DECAY_1_END: 16, DECAY_2_BEGIN: 40, DECAY_2_END: 80, DECAY_3_BEGIN: 100, DECAY_3_END: 104,
            DECAY_4_BEGIN: 396, DECAY_4_END: 400, ...(is_naive ? {} : { GROUPS: 2 }),
          },
          bindings: [...state, gradients, nines(4).map(() => squares / 4), batch.words, row_loss, [9, 9]],
          words: [5],
          workgroups: is_naive ? Math.ceil(size / 64) : 2,
          read: [0, 1, 2, 7],
        })) as [number[], number[], number[], number[]];
        const decays = (index: number) => {
          if (index < first_at) return index < 152;
          if (index >= first_at + layers * layer_stride) return false;
          const inside = (index - first_at) % layer_stride;
          return [[8, 16], [40, 80], [100, 104], [396, 400]].some(([begin, end]) => inside >= begin! && inside < end!);
        };
        const before = { parameters: exact(state[0]), first_moment: exact(state[1]), second_moment: exact(state[2]) };
        const wanted = reference.adamw(before, exact(gradients), squares, 3, decays);
        const change = (after: ArrayLike<number>) => Float64Array.from(after, (v, i) => v - state[0][i]!);
        expect(relativeError(change(parameters), change(wanted.parameters))).toBeLessThan(1e-3);
        expect(relativeError(parameters, wanted.parameters)).toBeLessThan(3e-7);
        expect(relativeError(first, wanted.first_moment)).toBeLessThan(tolerance);
        expect(relativeError(second, wanted.second_moment)).toBeLessThan(tolerance);
        expect(result[0]).toBeCloseTo(row_loss.reduce((sum, v) => sum + v, 0) / 10, 5);
        expect(result[1]! / Math.sqrt(squares)).toBeCloseTo(1, 5);
      });
    }
  });
}
