import path from "node:path";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { findItems } from "../../web/shell/palette-items.ts";

const Places = v.object({ PLACES: v.array(v.looseObject({ key: v.string() })) });

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

it("every page of the navigation has a key of its own", async () => {
  // The icons there bring React's types, which would replace those of the elements of a document in all of the project.
  const file = path.resolve(import.meta.dirname, "../../web/shell/places.ts");
  const { PLACES } = v.parse(Places, await import(file));
  expect(new Set(PLACES.map(({ key }) => key)).size).toBe(PLACES.length);
});
