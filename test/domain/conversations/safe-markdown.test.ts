import { describe, expect, it } from "vitest";
import { toSafeMarkdown } from "#shared/triggers/systems/marker.ts";

/** No browser shows it, and it separates a name from its `@`. */
const GAP = "\u200b";

describe("toSafeMarkdown", () => {
  it.each([
    ["a mention", "thanks @mallory"],
    ["a mention behind a fence that is none, since it is inside of a line", "see ```\n@mallory"],
    ["a mention behind a block that a line inside of it seems to end", "```\nx ```\n```\n@mallory"],
    ["a mention behind a block that a longer fence ends", "```\nx\n````\n@mallory\n```"],
    ["a mention behind a block that an indented fence ends", "```\nx\n  ```\n@mallory\n```"],
    ["a mention behind the block of a quotation", "> ```\n@mallory"],
    ["a mention behind the block of a list", "- a\n  ```\n@mallory\n```"],
    ["a mention between escaped backticks", "\\`@mallory\\`"],
    ["a mention behind a code span of two lines", "a `b\nc` `@mallory` d"],
    ["a mention in a cell of a table", "| a ` | @mallory ` |\n|---|---|"],
    ["a mention behind an attribute of HTML", '<a title="\n`">\n`@mallory` </a>'],
    ["a mention in HTML that contains a fence", "<div>\n```\n@mallory\n```\n</div>"],
    ["a mention behind a quotation of several lines on GitLab", ">>>\n```\n>>>\n@mallory\n```"],
    ["a mention behind front matter on GitLab", "---\n```\n---\n@mallory\n```"],
    ["a mention in a table of JSON on GitLab", '```json:table\n{"markdown": true, "items": [{"a": "@mallory"}]}\n```'],
    ["a mention behind a line separator", "```\n```\u2028x\n```\n@mallory\n```"],
    ["a mention between backticks of two paragraphs", "`a\r\r@mallory`"],
    ["a mention behind a carriage return", "```\nx\r```\r@mallory\n```"],
  ])("makes %s inert", (_, text) => {
    expect(toSafeMarkdown(text)).toContain(`@${GAP}mallory`);
    expect(toSafeMarkdown(text)).not.toContain("@mallory");
  });

  it.each([
    ["&#64;mallory", `&${GAP}#64;mallory`],
    ["&#x40;mallory", `&${GAP}#x40;mallory`],
    ["&commat;mallory", `&${GAP}commat;mallory`],
    ["@&#109;allory", `@${GAP}&${GAP}#109;allory`],
  ])("makes a mention that is written with a character reference inert: %s", (text, safe) => {
    expect(toSafeMarkdown(text)).toBe(safe);
  });

  it.each([
    "`npm i @acme/shop` and (`@Input()`), done: `@a`.",
    "Try:\n\n```ts\n@Component\nclass A<T> {}\n  `${x}` ~~~\n```\n\nThen:\n~~~\n@b\n~~~",
    "- `@a`\n- b < c & d @ e",
    "````md\n```\n@a\n```\n````",
  ])("leaves code as it is: %j", (text) => {
    expect(toSafeMarkdown(text)).toBe(text);
  });

  it("makes commands at the beginning of a line inert, also in code", () => {
    expect(toSafeMarkdown("/merge\n > /close\n```\n/approve\n```\na /b")).toBe(
      "\\/merge\n > \\/close\n```\n\\/approve\n```\na /b",
    );
  });
});
