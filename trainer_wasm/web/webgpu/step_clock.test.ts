import { describe, expect, it } from "vitest";
import type { GpuDevice } from "./gpu_device";
import { smallestAdvance, StepClock } from "./step_clock";

describe("the smallest advance of a clock", () => {
  it("is the least difference between readings that differ, in whatever order they come", () => {
    expect(smallestAdvance([300n, 100n, 100n, 165n, 300n])).toBe(65);
  });

  it("is unknown when the clock stood still", () => {
    expect(smallestAdvance([7n, 7n])).toBeUndefined();
    expect(smallestAdvance([])).toBeUndefined();
  });
});

describe("the places of steps' timestamps", () => {
  const counts: number[] = [];
  const device = {
    createQuerySet: ({ count }: { count: number }) => {
      counts.push(count);
      return { count };
    },
  };
  const clock = new StepClock({ device } as unknown as GpuDevice, 2049);

  it("fill as many query sets as their limit asks for", () => {
    expect(counts).toEqual([4096, 2]);
    expect(clock.placeOf(0)).toMatchObject({ query_set: { count: 4096 }, first: 0 });
    expect(clock.placeOf(2047)).toMatchObject({ query_set: { count: 4096 }, first: 4094 });
    expect(clock.placeOf(2048)).toMatchObject({ query_set: { count: 2 }, first: 0 });
  });

  it("end with the timed steps, so that what runs after them writes none", () => {
    expect(clock.placeOf(2049)).toBeUndefined();
  });
});
