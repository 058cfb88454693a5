import { describe, expect, it } from "vitest";
import { canonicalJson } from "./canonical_json";

describe("canonical JSON", () => {
  it("agrees with the example of RFC 8785, section 3.2.2", () => {
    const input = JSON.parse(
      '{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],' +
        '"string":"\\u20ac$\\u000F\\u000aA\'\\u0042\\u0022\\u005c\\\\\\"\\/","literals":[null,true,false]}',
    ) as unknown;
    expect(canonicalJson(input)).toBe(
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],' +
        '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    );
  });

  it("sorts members by UTF-16 code units, as section 3.2.3 shows", () => {
    const names = ["\u20ac", "\r", "\ufb33", "1", "\u{1f600}", "\u0080", "\u00f6"];
    const input = Object.fromEntries(names.map((name) => [name, 0]));
    const order = Object.keys(JSON.parse(canonicalJson(input)) as object);
    // Integer-like names come first in any JavaScript object, so the text itself is looked at for "1".
    expect(canonicalJson(input).indexOf('"\\r"')).toBeLessThan(canonicalJson(input).indexOf('"1"'));
    expect(order.filter((name) => name !== "1")).toEqual(["\r", "\u0080", "\u00f6", "\u20ac", "\u{1f600}", "\ufb33"]);
  });

  it("refuses what JSON cannot hold", () => {
    expect(() => canonicalJson({ a: Number.NaN })).toThrow(TypeError);
    expect(() => canonicalJson("\ud800")).toThrow(TypeError);
    expect(() => canonicalJson({ a: undefined })).toThrow(TypeError);
  });

  it("spells minus zero as zero and small and large numbers as ECMAScript does", () => {
    expect(canonicalJson([-0, 5e-324, 1.7976931348623157e308, 1e21, 1e-7])).toBe(
      "[0,5e-324,1.7976931348623157e+308,1e+21,1e-7]",
    );
  });
});
