/**
 * Counts the tests behind the guarantees of docs/security.md, so that no number there is out of date; the first tier does so after vitest.
 * By hand: `npx vitest run --reporter=json --outputFile=FILE`, then `node scripts/guarantees.ts FILE`.
 */
import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import * as v from "valibot";
import { type CheckResult, describeCheck } from "./checks.ts";
import { root } from "./run-command.ts";

const HEADING = "\n## What commands cannot do to the host\n";

const Report = v.object({
  testResults: v.array(
    v.object({
      name: v.string(),
      assertionResults: v.array(v.object({ ancestorTitles: v.array(v.string()), title: v.string() })),
    }),
  ),
});

/** Titles by the file of their tests. */
type Titles = ReadonlyMap<string, readonly string[]>;

interface Guarantee {
  readonly text: string;
  /** What the page says: the number of its tests. */
  readonly count: number;
  readonly tests: readonly { readonly file: string; readonly title: string }[];
}

/**
 * One check, regardless of the number of guarantees: each has as many tests as the page says. A row names files and parts of titles, in
 * which `%s` and the like stand for any text. A guarantee with a file that did not run is left out, such as one of another tier.
 * @param report what vitest's JSON reporter wrote
 */
export function checkGuarantees(
  report: string,
  page = readFileSync(join(root, "docs/security.md"), "utf8"),
): CheckResult {
  const started = performance.now();
  const titles = readTitles(report);
  const guarantees = readGuarantees(page);
  const problems = guarantees.flatMap(({ text, count, tests }) => {
    if (tests.some(({ file }) => !titles.has(file))) return [];
    const found = new Set(tests.flatMap((test) => findTests(test, titles)));
    return found.size === count ? [] : [`docs/security.md, ${text}: says ${count}, and ${found.size} tests ran`];
  });
  if (guarantees.length === 0) problems.push("docs/security.md has no table of guarantees");
  const seconds = (performance.now() - started) / 1000;
  return { name: "guarantees", ok: problems.length === 0, output: problems.join("\n"), seconds };
}

function readGuarantees(page: string): Guarantee[] {
  const [, section = ""] = page.split(HEADING);
  const [table = ""] = section.split("\n## ");
  const rows = table.split("\n").filter((line) => line.startsWith("| ") && line.includes("](../test/"));
  return rows.map((row) => {
    const [text = "", tests = "", count = ""] = row.slice(2).split(" | ");
    return { text, tests: readTests(tests), count: Number.parseInt(count, 10) };
  });
}

/** A link to a file, and then titles in quotes; without any, all of its tests. */
const readTests = (cell: string) =>
  cell.split("[").flatMap((part) => {
    const [, file] = /\]\(\.\.\/(test\/[^)]+)\)/.exec(part) ?? [];
    if (file === undefined) return [];
    const titles = [...part.matchAll(/"([^"]+)"/g)].map(([, title = ""]) => title);
    return (titles.length === 0 ? [""] : titles).map((title) => ({ file, title }));
  });

function findTests({ file, title }: Guarantee["tests"][number], titles: Titles): string[] {
  const parts = title.split(/%[a-z]/).map((part) => RegExp.escape(part));
  const pattern = new RegExp(parts.join(".*"), "s");
  return (titles.get(file) ?? []).flatMap((one, index) => (pattern.test(one) ? [`${file} ${index}`] : []));
}

function readTitles(report: string): Titles {
  const { testResults } = v.parse(Report, JSON.parse(report));
  return new Map(
    testResults.map(({ name, assertionResults }) => [
      relative(root, name),
      assertionResults.map(({ ancestorTitles, title }) => [...ancestorTitles, title].join(" > ")),
    ]),
  );
}

if (import.meta.main) {
  const [file] = process.argv.slice(2);
  if (file === undefined) throw new Error("usage: node scripts/guarantees.ts FILE, a report of vitest's JSON reporter");
  const result = checkGuarantees(readFileSync(file, "utf8"));
  console.log(describeCheck(result));
  process.exitCode = result.ok ? 0 : 1;
}
