/**
 * Counts the tests behind the guarantees of docs/security.md, so that no number there is out of date; the first tier does so after vitest.
 * By hand: `npx vitest run --reporter=json --outputFile=FILE`, then `node scripts/guarantees.ts FILE`.
 */
import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import * as v from "valibot";
import { type CheckResult, describeCheck } from "./checks.ts";
import { root } from "./run-command.ts";

/** The sections whose tables have a row for each guarantee. */
const HEADINGS = ["What commands cannot do to the host", "What was tried"];

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
  /** What the page says: the number of its tests, and of the cases that one of them generates. */
  readonly count: number;
  readonly generated: number | undefined;
  readonly tests: readonly { readonly file: string; readonly title: string }[];
}

/**
 * One check, regardless of the number of guarantees: each has as many tests as the page says, and as many generated cases ("2,000
 * generated") as one of its files asks for. A row names files and parts of titles, in
 * which `%s` and the like stand for any text. A guarantee with a file that did not run is left out, such as one of another tier.
 * @param report what vitest's JSON reporter wrote
 */
export function checkGuarantees(
  report: string,
  page = readFileSync(join(root, "docs/security.md"), "utf8"),
  readTest = (file: string) => readFileSync(join(root, file), "utf8"),
): CheckResult {
  const started = performance.now();
  const titles = readTitles(report);
  const guarantees = readGuarantees(page);
  const problems = guarantees.flatMap(({ text, count, generated, tests }) => {
    if (tests.some(({ file }) => !titles.has(file))) return [];
    const found = new Set(tests.flatMap((test) => findTests(test, titles)));
    const runs = tests.flatMap(({ file }) => readRuns(readTest(file)));
    return [
      ...(found.size === count ? [] : [`docs/security.md, ${text}: says ${count}, and ${found.size} tests ran`]),
      ...(generated === undefined || runs.includes(generated)
        ? []
        : [`docs/security.md, ${text}: says that ${generated} cases are generated, and its tests do not`]),
    ];
  });
  if (guarantees.length === 0) problems.push("docs/security.md has no table of guarantees");
  const seconds = (performance.now() - started) / 1000;
  return { name: "guarantees", ok: problems.length === 0, output: problems.join("\n"), seconds };
}

function readGuarantees(page: string): Guarantee[] {
  const tables = HEADINGS.map((heading) => page.split(`\n## ${heading}\n`)[1]?.split("\n## ")[0] ?? "");
  const lines = tables.flatMap((table) => table.split("\n"));
  return lines
    .filter((line) => line.startsWith("| ") && line.includes("](../test/"))
    .map((row) => {
      const [text = "", tests = "", cases = ""] = row.slice(2).split(" | ");
      const [, generated] = /([\d,]+) generated/.exec(cases) ?? [];
      return {
        text,
        tests: readTests(tests),
        count: Number.parseInt(cases, 10),
        generated: generated === undefined ? undefined : Number(generated.replaceAll(",", "")),
      };
    });
}

/** The numbers of cases that a test's source asks fast-check for, as numbers or as constants. */
function readRuns(source: string): number[] {
  const constants = new Map([...source.matchAll(/^const (\w+) = ([\d_]+);/gm)].map(([, name, value]) => [name, value]));
  return [...source.matchAll(/numRuns: (\w+)/g)].map(([, runs]) =>
    Number((constants.get(runs) ?? runs ?? "").replaceAll("_", "")),
  );
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
