import { describe, expect, it } from "vitest";
import { addressOf, parseAddress } from "./router";

describe("addresses", () => {
  it("name a view, an id and filters", () => {
    expect(parseAddress("/")).toMatchObject({ view: "overview" });
    const route = parseAddress("/receipts/a%2Fb?x=1");
    expect(route).toMatchObject({ view: "receipts", id: "a/b" });
    expect(route.query.get("x")).toBe("1");
  });

  it("come back as they were made", () => {
    const id = "odd id/with?signs#and%20more";
    expect(parseAddress(addressOf("receipts", id))).toMatchObject({ view: "receipts", id });
    expect(addressOf("receipts", undefined, { preset: "large", machine: "", label: undefined })).toBe("/receipts?preset=large");
    expect(addressOf("overview")).toBe("/");
  });

  it("of no view are not found, and a broken escape does no harm", () => {
    expect(parseAddress("/nowhere").view).toBe("not-found");
    expect(parseAddress("/receipts/a/b").view).toBe("not-found");
    expect(parseAddress("/receipts/%zz")).toMatchObject({ view: "receipts", id: "%zz" });
  });
});
