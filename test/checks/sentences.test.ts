import { describe, expect, it } from "vitest";
import { findChangeProblems, type SentenceChange } from "../../lab/sentence-changes.ts";
import { findProblems, findSentenceProblems, readTags } from "../../scripts/sentences.ts";

const file = "test/api/pets.test.ts";
// Put together, so that the check of this repository does not read them.
const tag = "// @" + "contract";
const lines = (...text: readonly string[]) => readTags(file, text.join("\n"));

describe("the tags of the contract's sentences", () => {
  it("have an id, a sentence and the test below them", () => {
    const { tags, problems } = lines(
      `  ${tag} pets.name: A pet has a name: one.`,
      `  ${tag} pets.create`,
      '  it("wants a name", () => {});',
    );
    expect(problems).toEqual([]);
    expect(tags).toEqual([
      { id: "pets.name", sentence: "A pet has a name: one.", test: `${file}:3` },
      { id: "pets.create", sentence: undefined, test: `${file}:3` },
    ]);
    expect(findProblems(tags)).toEqual([`pets.create has no sentence: ${file}:3`]);
  });

  it.each(['it.each([1])("x", f)', 'describe("x", f)', 'test("x", f)', "listContract(f)"])("stand above %s", (test) => {
    expect(lines(`${tag} pets.name: A pet has a name.`, test)).toMatchObject({
      tags: [{ id: "pets.name" }],
      problems: [],
    });
  });

  it.each(["const pet = 1;", "", "  // it", "item()"])("are refused above %j", (line) => {
    const { tags, problems } = lines(`${tag} pets.name: A pet has a name.`, line);
    expect({ tags, problems }).toEqual({ tags: [], problems: [`${file}:1: pets.name has no test below it`] });
  });

  it("are refused at the end of a file", () => {
    expect(lines(`${tag} pets.name`).problems).toEqual([`${file}:1: pets.name has no test below it`]);
  });

  it.each(["", " 1.name", " pets.name:", " pets.name: ", " pets.name A pet.", " pets..name"])(
    "are refused as %j",
    (text) => {
      expect(lines(`${tag}${text}`, 'it("x", f)').problems).toEqual([
        `${file}:1: write "${tag} ID: sentence" or "${tag} ID"`,
      ]);
    },
  );

  it("state each sentence once", () => {
    const one = { id: "pets.name", sentence: "A pet has a name.", test: "a.test.ts:1" };
    expect(findProblems([one, { ...one, test: "b.test.ts:2" }])).toEqual([
      "pets.name has 2 sentences: a.test.ts:1, b.test.ts:2",
    ]);
    expect(findProblems([one, { ...one, sentence: undefined }])).toEqual([]);
  });

  it("are in order in this repository", () => {
    expect(findSentenceProblems()).toEqual([]);
  });
});

describe("the changes that break sentences of the contract", () => {
  const change: SentenceChange = { id: "pets.name", file: "pets.ts", text: "name: v.string()", replacement: "" };
  const problemsOf = (more: Partial<SentenceChange>, code = "const Pet = { name: v.string() };") =>
    findChangeProblems([{ ...change, ...more }], new Set(["pets.name"]), () => code);

  it("are of code that its file has once, and of a sentence that a test states", () => {
    expect(problemsOf({})).toEqual([]);
    expect(problemsOf({ id: "pets.age" })).toEqual(["pets.age: no test has its tag"]);
    expect(problemsOf({}, "")).toEqual(["pets.name: pets.ts does not have its code once"]);
    expect(problemsOf({}, `${change.text} ${change.text}`)).toHaveLength(1);
    expect(problemsOf({ replacement: change.text })).toEqual(["pets.name: changes nothing"]);
  });

  it("can all be made in this repository", () => {
    expect(findChangeProblems()).toEqual([]);
  });
});
