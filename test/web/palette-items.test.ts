import { describe, expect, it } from "vitest";
import { findItems } from "../../web/shell/palette-items.ts";
import { PLACES } from "../../web/shell/places.ts";

const item = (label: string, words = "") => ({ id: label, label, note: "Action", words, perform: () => undefined });
const items = [item("New run", "start create"), item("Runs"), item("Run again")];
const find = (text: string) => findItems(items, text).map(({ label }) => label);

describe("findItems", () => {
  it.each([
    ["", ["New run", "Runs", "Run again"]],
    ["run", ["Runs", "Run again", "New run"]],
    ["RUN new", ["New run"]],
    ["create", ["New run"]],
    ["action again", ["Run again"]],
    ["nothing", []],
  ])("finds by %j, what begins with it first", (text, labels) => {
    expect(find(text)).toEqual(labels);
  });
});

it("every page of the navigation has a key of its own", () => {
  expect(new Set(PLACES.map(({ key }) => key)).size).toBe(PLACES.length);
});
