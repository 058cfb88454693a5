// The presets in order of size, for views that line machines up; the server's list is asked where sizes matter.

export const preset_order = ["smoke", "tiny", "small", "medium", "large", "xl", "huge", "massive", "mega", "behemoth"];

/** Sorts names by size; unknown ones come last, by name. */
export function bySize(a: string, b: string): number {
  const rank = (name: string): number => {
    const index = preset_order.indexOf(name);
    return index < 0 ? preset_order.length : index;
  };
  return rank(a) - rank(b) || a.localeCompare(b);
}
