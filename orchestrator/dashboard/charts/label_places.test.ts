import { describe, expect, it } from "vitest";
import { placeLabels, shortened } from "./label_places";

describe("labels of a chart", () => {
  it("lie in the first place while they are apart", () => {
    expect(placeLabels([{ x: 0, y: 10, text: "small" }, { x: 100, y: 10, text: "medium" }], [-16, -29])).toEqual([-16, -16]);
  });
  it("move to the next place where they would lie on each other, and give way where none is left", () => {
    const close = ["massive", "mega", "huge"].map((text, index) => ({ x: 200 + index, y: 10, text }));
    expect(placeLabels(close, [-16, -29])).toEqual([-16, -29, undefined]);
  });
  it("mind points at other heights", () => {
    expect(placeLabels([{ x: 50, y: 100, text: "observed" }, { x: 50, y: 112, text: "historical" }], [16, -16])).toEqual([16, -16]);
    expect(placeLabels([{ x: 50, y: 100, text: "observed" }, { x: 50, y: 160, text: "historical" }], [16, -16])).toEqual([16, 16]);
  });
  it("say that they are shortened", () => {
    expect(shortened("bench", 5)).toBe("bench");
    expect(shortened("bench-01", 5)).toBe("benc…");
  });
});
