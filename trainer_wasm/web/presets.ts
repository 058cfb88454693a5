// The presets as pages that stand alone need them; orchestrator/contract/model.cpp is where they are defined.

import type { ModelShape } from "./arm";

export const presets: Record<string, ModelShape> = {
  smoke: { layers: 1, d_model: 32, ctx: 16, batch: 2, heads: 2 },
  tiny: { layers: 2, d_model: 48, ctx: 32, batch: 16, heads: 3 },
  small: { layers: 3, d_model: 96, ctx: 64, batch: 16, heads: 3 },
  medium: { layers: 4, d_model: 128, ctx: 96, batch: 16, heads: 4 },
  large: { layers: 6, d_model: 192, ctx: 128, batch: 12, heads: 6 },
  xl: { layers: 8, d_model: 256, ctx: 128, batch: 8, heads: 8 },
  huge: { layers: 12, d_model: 256, ctx: 256, batch: 8, heads: 8 },
  massive: { layers: 14, d_model: 384, ctx: 256, batch: 4, heads: 12 },
  mega: { layers: 14, d_model: 384, ctx: 512, batch: 2, heads: 12 },
  behemoth: { layers: 24, d_model: 1280, ctx: 512, batch: 1, heads: 20 },
};
