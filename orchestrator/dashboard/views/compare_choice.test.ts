import { describe, expect, it } from "vitest";
import { summaryOf, makeReceipt } from "../../../tests/browser/support/receipt_fixture";
import { comparedIds, compareAddress, most_compared, newestOfMachines } from "./compare_choice";

const idsOf = (address: string): string[] => comparedIds(new URL(address, "http://h").searchParams);

describe("the choice of a comparison", () => {
  it("survives the address, from one receipt to many", () => {
    for (const ids of [["one"], ["one", "two"], ["one", "two", "three", "four"]]) expect(idsOf(compareAddress(ids))).toEqual(ids);
  });
  it("names each receipt once and at most as many as fit", () => {
    expect(idsOf("/compare?a=one&b=one&more=two,,one")).toEqual(["one", "two"]);
    expect(idsOf(`/compare?a=0&b=1&more=${Array.from({ length: 50 }, (_, index) => index).join(",")}`)).toHaveLength(most_compared);
  });
  it("takes the newest figure of every machine, all of one pair of arms", () => {
    const of = (id: string, machine: string, options = {}): ReturnType<typeof summaryOf> => summaryOf(makeReceipt({ id, machine, steps: 2, ...options }));
    const newest_first = [
      of("a2", "one", { arms: ["native", "webgpu"] }),
      of("a1", "one"),
      of("a0", "one"),
      of("b1", "two", { verdict: "refused" }),
      of("b0", "two"),
      of("c0", "three", { preset: "xl" }),
    ];
    expect(newestOfMachines(newest_first, "large").map(({ id }) => id)).toEqual(["a1", "b0"]);
  });
});
