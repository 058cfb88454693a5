import { describe, expect, it } from "vitest";
import { applyEvent, emptyPicture, progressOf, type RunPicture } from "./run_events";

const steps = (arm_index: number, first: number, wall_ms: number[]): unknown => ({
  arm: "webgpu",
  phase: "measure",
  arm_index,
  arm_count: 4,
  first,
  asked: 4,
  wall_ms,
  loss: wall_ms.map(() => 5),
});

describe("the picture of a run", () => {
  it("grows with every event", () => {
    let picture = applyEvent(emptyPicture(), "state", { state: "running", phase: "measuring", arm_index: 0, arm_count: 4 });
    picture = applyEvent(picture, "steps", steps(0, 0, [1, 2]));
    picture = applyEvent(picture, "steps", steps(0, 2, [3, 4]));
    picture = applyEvent(picture, "steps", steps(1, 0, [5, 6]));
    expect(picture.blocks.map((block) => block.steps.map((step) => step.wall_ms))).toEqual([[1, 2, 3, 4], [5, 6]]);
    expect(progressOf(picture)).toBeCloseTo((1 + 0.5) / 4);
    picture = applyEvent(picture, "done", { state: "done", receipt_id: "r", verdict: "verified" });
    expect(picture).toMatchObject({ state: "done", receipt_id: "r", verdict: "verified" });
    expect(progressOf(picture)).toBe(1);
  });

  it("takes steps that come twice after a reconnection once", () => {
    const once = applyEvent(emptyPicture(), "steps", steps(0, 0, [1, 2]));
    expect(applyEvent(once, "steps", steps(0, 0, [1, 2])).blocks[0]!.steps).toHaveLength(2);
  });

  it("keeps a bounded log and counts what was missed", () => {
    let picture: RunPicture = emptyPicture();
    for (let line = 0; line < 600; line += 1) picture = applyEvent(picture, "log", { level: "info", message: String(line) });
    expect(picture.log).toHaveLength(500);
    expect(picture.log.at(-1)).toBe("info: 599");
    expect(applyEvent(picture, "gap", { missed: 7 }).missed).toBe(7);
  });

  it("is not changed by what it does not understand", () => {
    const picture = emptyPicture();
    for (const data of [undefined, null, "text", 7]) expect(applyEvent(picture, "state", data)).toBe(picture);
    expect(applyEvent(picture, "surprise", {})).toBe(picture);
    expect(applyEvent(picture, "steps", { wall_ms: "no list" }).blocks[0]!.steps).toEqual([]);
  });
});
