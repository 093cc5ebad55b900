import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "../../scripts/run-command.ts";

const read = (file: string): string => readFileSync(join(root, file), "utf8");

interface NamedTest {
  readonly file: string;
  /** Its title, or the beginning of it. */
  readonly title: string;
}

/** The tests that a table's cell names: a link to a file, or the name of a file that was linked before, then titles in quotes. */
function readNamedTests(cell: string): NamedTest[] {
  const files = [...cell.matchAll(/(?:\[([\w.-]+\.ts)\]\(\.\.\/([\w./-]+)\)|(?<![\w/.-])([\w.-]+\.ts))/g)];
  return files.flatMap((match, at) => {
    const own = cell.slice(match.index + match[0].length, files[at + 1]?.index);
    const titles = [...own.matchAll(/"([^"]+)"/g)].map(([, title = ""]) => title.replace(/…$/, ""));
    const file = match[2] ?? match[3] ?? "";
    return titles.length === 0 ? [{ file, title: "" }] : titles.map((title) => ({ file, title }));
  });
}

/** Whether one of the files of that name or path has a test with that title. */
function exists({ file, title }: NamedTest): boolean {
  const paths = file.includes("/")
    ? [file]
    : globSync("test/**/*.ts", { cwd: root }).filter((path) => basename(path) === file);
  return paths.some((path) => read(path).includes(title));
}

/** Rows of the table below a heading, as cells. */
function readRows(page: string, heading: string): string[][] {
  const [, section = ""] = read(page).split(`## ${heading}\n`);
  const [table = ""] = section.split("\n## ");
  const lines = table.split("\n").filter((line) => line.startsWith("| "));
  return lines.slice(1).map((line) => line.split(" | ").map((cell) => cell.replace(/^\| | \|$/g, "")));
}

const pages = [
  { page: "design/aws-readiness.md", heading: "Closed", column: 1 },
  { page: "docs/security.md", heading: "What commands cannot do to the host", column: 1 },
  { page: "design/testing.md", heading: "How the stores differ from AWS", column: 2 },
];

describe.each(pages)("$page, $heading", ({ page, heading, column }) => {
  const rows = readRows(page, heading).map((cells) => [cells[0] ?? "", cells[column] ?? ""] as const);

  it("has more than ten rows", () => {
    expect(rows.length).toBeGreaterThan(10);
  });

  it.each(rows)("names tests that exist for “%s”", (_, cell) => {
    const named = readNamedTests(cell);
    expect(named, cell).not.toEqual([]);
    expect(named.filter((test) => !exists(test))).toEqual([]);
  });
});

describe("the check of named tests", () => {
  it("finds a missing title, and a missing file", () => {
    const cell =
      '[terms.test.ts](../test/checks/terms.test.ts) "no such title", named-tests.test.ts "finds a missing…"';
    const [missing, present] = readNamedTests(cell);
    expect(missing).toEqual({ file: "test/checks/terms.test.ts", title: "no such title" });
    expect([missing, present].map((test) => test !== undefined && exists(test))).toEqual([false, true]);
    expect(exists({ file: "no-such.test.ts", title: "" })).toBe(false);
  });
});
