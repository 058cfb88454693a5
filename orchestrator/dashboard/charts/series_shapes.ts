// The shapes that tell the series of the curve apart beside their colours.

import { svg, type SVGTemplateResult } from "lit";

/** Names of Plot's symbols. Five shapes and six colours make thirty series that differ in both. */
export const series_shapes = ["circle", "square", "triangle", "diamond", "star"] as const;
export type SeriesShape = (typeof series_shapes)[number];

export function shapeOf(index: number): SeriesShape {
  return series_shapes[index % series_shapes.length]!;
}

/** The shape for a key, around (14, 6). */
export function shapeMark(shape: SeriesShape): SVGTemplateResult {
  switch (shape) {
    case "circle":
      return svg`<circle cx="14" cy="6" r="4.5" fill="currentColor"/>`;
    case "square":
      return svg`<path d="M10 2h8v8h-8z" fill="currentColor"/>`;
    case "triangle":
      return svg`<path d="M14 0.6l5.2 9.2H8.8z" fill="currentColor"/>`;
    case "diamond":
      return svg`<path d="M14 0l4 6-4 6-4-6z" fill="currentColor"/>`;
    case "star":
      return svg`<path d="M14 0l1.5 4.2h4.4l-3.5 2.7 1.3 4.3L14 8.6l-3.7 2.6 1.3-4.3-3.5-2.7h4.4z" fill="currentColor"/>`;
  }
}
