/** `node scripts/sizes.ts`: lengths of files and functions, and every function longer than the limit. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseSync } from "@swc/core";
import * as v from "valibot";
import { root } from "./run-command.ts";

/** Lines of a function outside of tests. */
export const MAX_FUNCTION_LINES = 80;

export interface SizedFunction {
  readonly file: string;
  /** Line of the function's beginning. */
  readonly line: number;
  readonly lines: number;
}

const Span = v.object({ start: v.number(), end: v.number() });
const SpannedNode = v.object({ type: v.string(), span: Span });
const functionTypes = new Set([
  "FunctionDeclaration",
  "FunctionExpression",
  "ArrowFunctionExpression",
  "ClassMethod",
  "PrivateMethod",
  "Constructor",
  "MethodProperty",
]);

/** The TypeScript files of the product itself: no tests, and nothing generated. */
function productFiles(): string[] {
  const tracked = execFileSync("git", ["ls-files", "*.ts"], { cwd: root, encoding: "utf8" }).trim().split("\n");
  return tracked.filter(
    (file) => !/^(test|clients\/.*generated|clients\/typescript\/src\/resources|dist)\//.test(file),
  );
}

/** The functions of a source text, each with its length in lines. */
export function functionsIn(file: string, text: string): SizedFunction[] {
  // Positions count from the first token of the module, so the text gets one that is at its very beginning.
  const source = Buffer.from(`;${text.replace(/^#!/, "//")}`);
  const module = parseSync(source.toString(), { syntax: "typescript", target: "es2024" });
  const lineAt = (position: number) =>
    source
      .subarray(0, position - module.span.start)
      .toString()
      .split("\n").length;
  const found: SizedFunction[] = [];
  const visit = (node: unknown): void => {
    if (typeof node !== "object" || node === null) return;
    const spanned = v.safeParse(SpannedNode, node);
    if (spanned.success && functionTypes.has(spanned.output.type)) {
      const { start, end } = spanned.output.span;
      found.push({ file, line: lineAt(start), lines: lineAt(end) - lineAt(start) + 1 });
    }
    for (const child of Object.values(node)) visit(child);
  };
  visit(module.body);
  return found;
}

interface Sizes {
  readonly files: number;
  readonly medianFileLines: number;
  readonly maxFileLines: number;
  readonly functions: number;
  readonly medianFunctionLines: number;
  readonly maxFunctionLines: number;
  readonly tooLong: readonly SizedFunction[];
}

export function measureSizes(files: readonly string[] = productFiles()): Sizes {
  const texts = files.map((file) => ({ file, text: readFileSync(join(root, file), "utf8") }));
  const fileLines = texts.map(({ text }) => text.split("\n").length - 1);
  const functions = texts.flatMap(({ file, text }) => functionsIn(file, text));
  const functionLines = functions.map(({ lines }) => lines);
  return {
    files: files.length,
    medianFileLines: calculateMedian(fileLines),
    maxFileLines: Math.max(...fileLines),
    functions: functions.length,
    medianFunctionLines: calculateMedian(functionLines),
    maxFunctionLines: Math.max(...functionLines),
    tooLong: functions.filter(({ lines }) => lines > MAX_FUNCTION_LINES).sort((a, b) => b.lines - a.lines),
  };
}

const calculateMedian = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;

function printSizes(sizes: Sizes): string {
  const { files, medianFileLines, maxFileLines, functions, medianFunctionLines, maxFunctionLines, tooLong } = sizes;
  return [
    `${files} files: median ${medianFileLines} lines, maximum ${maxFileLines}`,
    `${functions} functions: median ${medianFunctionLines} lines, maximum ${maxFunctionLines}`,
    ...tooLong.map(({ file, line, lines }) => `${file}:${line}: ${lines} lines, over ${MAX_FUNCTION_LINES}`),
  ].join("\n");
}

if (import.meta.main) {
  const sizes = measureSizes();
  console.log(printSizes(sizes));
  process.exitCode = sizes.tooLong.length === 0 ? 0 : 1;
}
