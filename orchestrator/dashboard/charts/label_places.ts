// Places for the words in a chart, so that none lies on another.

export interface Label {
  /** The middle of the text, in pixels. */
  x: number;
  y: number;
  text: string;
}

/** Roughly what a character of a chart's 12 px type takes, and how high a line is. */
const character_width = 6.6;
const line_height = 13;

/** For each label the first of `offsets` (pixels down from its y) where it lies on no earlier one; undefined: no room for it. */
export function placeLabels(labels: readonly Label[], offsets: readonly number[]): (number | undefined)[] {
  const taken: { left: number; right: number; middle: number }[] = [];
  return labels.map(({ x, y, text }) => {
    const half = (text.length * character_width) / 2 + 3;
    const is_free = (middle: number): boolean =>
      taken.every((other) => x + half <= other.left || x - half >= other.right || Math.abs(middle - other.middle) >= line_height);
    const offset = offsets.find((down) => is_free(y + down));
    if (offset !== undefined) taken.push({ left: x - half, right: x + half, middle: y + offset });
    return offset;
  });
}

/** At most `most` characters, with a sign where some are left out. */
export function shortened(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, Math.max(1, most - 1))}…`;
}
