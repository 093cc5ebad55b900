import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { parseSkill } from "#shared/skills/skill-md.ts";
import { isSkillPath, SKILL_FOLDERS } from "#shared/wire/skills/skill-file.ts";

const path = ".agents/skills/review/SKILL.md";
const sha = "a".repeat(40);
const parse = (text: string) => parseSkill({ path, sha, text });

describe("a SKILL.md", () => {
  it("has a name, a description and, after the front matter, a prompt", () => {
    expect(
      parse("---\nname: code-review\ndescription: >\n  Reviews\n  changes\nlicense: MIT\n---\n\n# Review\n\nLook.\n"),
    ).toEqual({
      path,
      sha,
      name: "code-review",
      description: "Reviews changes",
      base_prompt: "# Review\n\nLook.",
    });
  });

  it.each([
    ["no front matter", "# Review", /^line 1: there is no front matter/],
    ["nothing at all", "", /^line 1: there is no front matter/],
    ["a rule in its middle", "Hello\n---\nname: a\n---\n", /^line 1: there is no front matter/],
    ["front matter without an end", "---\nname: a\ndescription: b\n", /^line 1: .*not closed/],
    ["an empty front matter", "---\n---\nHi", /^line 1: the front matter must have/],
    ["a list as front matter", "---\n- name\n---\n", /^line 1: the front matter must have/],
    ["no description", "---\nname: a\n---\n", /^line 1: description is missing$/],
    ["neither", "---\nlicense: MIT\n---\n", /^line 1: name is missing; line 1: description is missing$/],
    ["an empty name", "---\ndescription: b\nname: ''\n---\n", /^line 3: name is empty$/],
    ["a description that is a list", "---\nname: a\ndescription:\n  - b\n---\n", /^line 3: description must be text$/],
    ["a name that is an alias", "---\nx: &a b\nname: *a\ndescription: b\n---\n", /^line 3: name must be text$/],
    [
      "a name that is too long",
      `---\nname: ${"a".repeat(257)}\ndescription: b\n---\n`,
      /^line 2: name has more than 256/,
    ],
    ["bad YAML without a description", "---\nname: a: b\nlicense: MIT\n---\n", /^line 2: the front matter is not YAML/],
    [
      "bad YAML whose name is no name",
      "---\nname: [a\ndescription: b\n---\n",
      /^line [23]: the front matter is not YAML/,
    ],
    [
      "bad YAML with a long description",
      `---\nx: y: z\nname: a\ndescription: ${"b".repeat(4_097)}\n---\n`,
      /^line 4: description has more than 4096/,
    ],
    ["an open quote", '---\nname: "a\ndescription: b\n---\n', /^line [23]: the front matter is not YAML/],
    [
      "a front matter of 17 KiB without a description",
      `---\n${"# x\n".repeat(4400)}name: a\n---\n`,
      /^line 1: .*larger than 16384 bytes/,
    ],
    ["nesting without an end", `---\nname: ${"[".repeat(8000)}\n---\n`, /^line \d+: the front matter is not YAML/],
  ])("with %s is malformed, and the error names the line", (_, text, error) => {
    const parsed = parse(text);
    expect(parsed.error).toMatch(error);
    expect(parsed.name).not.toBe("");
  });

  it.each([
    [
      "a colon in its description",
      "name: a\ndescription: Make it ready: states, errors",
      "Make it ready: states, errors",
    ],
    [
      "a description of several lines",
      "name: a\ndescription: One,\n  two.\n\n  Keywords: next\nlicense: MIT",
      "One, two.\nKeywords: next",
    ],
    ["a block in bad YAML", "x: y: z\nname: a\ndescription: >-\n  One\n  two", "One two"],
    ["a list in bad YAML", "allowed-tools: [a\nname: 'a'\ndescription: \"b: c\"", "b: c"],
    ["a description that begins like a list", "name: a\ndescription: [draft] Do it", "[draft] Do it"],
    ["carriage returns in bad YAML", "name: a\r\ndescription: b: c\r", "b: c"],
    ["a member twice", "name: a\nname: b\ndescription: c", "c"],
    ["a template of another program", "{{ x }}: {% y %}\nname: a\ndescription: c", "c"],
    ["17 KiB of other members", `x: |\n${"  y\n".repeat(4400)}name: a\ndescription: c`, "c"],
  ])("with %s is valid, since its name and its description can be read", (_, matter, description) => {
    expect(parse(`---\n${matter}\n---\nDo it.`)).toEqual({ path, sha, name: "a", description, base_prompt: "Do it." });
  });

  it("has what is written as its name where that is a number or a date", () => {
    for (const name of ["7", "2026-01-31", "true", "0x1F"])
      expect(parse(`---\nname: ${name}\ndescription: b\n---\n`)).toMatchObject({ name, description: "b" });
    expect(parse("---\nname: ~\ndescription: b\n---\n")).toMatchObject({ name: "~" });
    expect(parse("---\nname:\ndescription: b\n---\n").error).toBe("line 2: name is empty");
  });

  it("has a name of up to 256 characters and a description of up to 4,096, however many bytes these are", () => {
    const [name, description] = ["😀".repeat(256), "é".repeat(4_096)];
    expect(parse(`---\nname: ${name}\ndescription: ${description}\n---\n`)).toMatchObject({ name, description });
    expect(parse(`---\nname: a\ndescription: ${description}é\n---\n`).error).toBe(
      "line 3: description has more than 4096 characters",
    );
  });

  it("that could not be read has the reason, and is read again", () => {
    const parsed = parseSkill({ path, sha, problem: "is larger than 65536 bytes" });
    expect(parsed).toMatchObject({ name: "review", sha: "", error: "SKILL.md is larger than 65536 bytes" });
  });

  it("is accepted with a byte order mark, carriage returns and without a line after the front matter", () => {
    expect(parse("\uFEFF---\r\nname: a\r\ndescription: b\r\n---\r\nHi\r\n")).toMatchObject({
      name: "a",
      base_prompt: "Hi",
    });
    expect(parse("---\nname: a\ndescription: b\n---")).toMatchObject({ name: "a", description: "b", base_prompt: "" });
  });

  it("returns exactly the written values", () => {
    const text = fc
      .string({ unit: "grapheme", minLength: 1, maxLength: 200 })
      .filter((value) => value.trim() === value && value !== "");
    fc.assert(
      fc.property(text, text, fc.string({ unit: "grapheme" }), (name, description, body) => {
        const written = `---\n${stringify({ license: "MIT", name, description }, { version: "1.2" })}---\n${body}`;
        const parsed = parse(written);
        expect(parsed.error).toBeUndefined();
        expect(parsed).toMatchObject({ name, description, base_prompt: body.trim() });
      }),
    );
  });

  it("with any content is parsed, and an error names an existing line", () => {
    const piece = fc.constantFrom(
      "---",
      "\n",
      "name",
      "description",
      ": ",
      "- ",
      "[",
      "}",
      "'",
      '"',
      "&a",
      "*a",
      "!!x",
      "|",
      "\t",
      "%YAML 1.2\n",
      "?",
    );
    const anything = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.array(fc.oneof(piece, fc.string({ maxLength: 3 }))).map((parts) => parts.join("")),
    );
    fc.assert(
      fc.property(anything, fc.boolean(), (inner, isClosed) => {
        const text = isClosed ? `---\n${inner}\n---\n` : inner;
        const { name, error } = parse(text);
        expect(name).not.toBe("");
        const [, line] = /^line (\d+): /.exec(error ?? "") ?? [];
        if (error !== undefined) expect(Number(line)).toBeLessThanOrEqual(text.split("\n").length);
      }),
      { numRuns: 1000 },
    );
  });
});

describe("a skill's path", () => {
  it("is a SKILL.md in one directory below skills, in one of the known folders", () => {
    for (const folder of SKILL_FOLDERS) expect(isSkillPath(`${folder}/a/SKILL.md`)).toBe(true);
    const others = [
      ".agents/skills/SKILL.md",
      ".agents/skills/a/b/SKILL.md",
      ".agents/skills//SKILL.md",
      ".agents/skills/a/skill.md",
      ".agents/skill/a/SKILL.md",
      "skills/SKILL.md",
      "skill/a/SKILL.md",
      "docs/skills/a/SKILL.md",
      "x/.agents/skills/a/SKILL.md",
      ".vscode/skills/a/SKILL.md",
    ];
    expect(others.filter(isSkillPath)).toEqual([]);
  });
});
