import { readFileSync } from "node:fs";
import { seededRandom } from "../../shared/random.ts";
import { listFiles } from "../planted/planted.ts";
import { listChildren, parseProgram, type SyntaxNode } from "../planted/syntax.ts";

/** They have no mutants. */
const WITHOUT_CODE = /^(Import|ExportAll|TS)/;

interface Statement {
  /** Stryker's pattern: `file:first-last`. */
  readonly pattern: string;
  readonly lines: number;
}

/** Whole top-level statements of the files, chosen at random until they have `percent` of the lines of all of them. */
export async function chooseSample(
  paths: readonly string[],
  { percent, seed }: { readonly percent: number; readonly seed: number },
): Promise<readonly string[]> {
  const files = (await listFiles(paths)).filter((file) => /(?<!\.d)\.ts$/.test(file) && !file.includes("/generated/"));
  const random = seededRandom(seed);
  const candidates = files.flatMap(listStatements);
  const targetLines = (percent / 100) * candidates.reduce((sum, { lines }) => sum + lines, 0);
  const chosen: string[] = [];
  for (let lines = 0; lines < targetLines; ) {
    const [one] = candidates.splice(Math.floor(random() * candidates.length), 1);
    if (one === undefined) break;
    chosen.push(one.pattern);
    lines += one.lines;
  }
  return chosen.sort();
}

function listStatements(file: string): readonly Statement[] {
  const code = readFileSync(file, "utf8");
  const toLine = (position: number) => code.slice(0, position).split("\n").length;
  const hasCode = ({ type }: SyntaxNode) => !WITHOUT_CODE.test(type);
  return listChildren(parseProgram(file, code))
    .filter((node) => hasCode(node) && listChildren(node).every(hasCode))
    .map(({ start, end }) => {
      const [first, last] = [toLine(start), toLine(end)];
      return { pattern: `${file}:${first}-${last}`, lines: last - first + 1 };
    });
}
