/** Stryker loads this file in its own process: what it is not to mutate, and a line of JSON for each mutant that it is done with. */
import { appendFileSync, readFileSync } from "node:fs";
import { relative } from "node:path";
import * as v from "valibot";
import { RESULTS_VARIABLE, type Result } from "./results.ts";

const Text = v.object({ type: v.literal("StringLiteral"), value: v.string() });
const Template = v.object({
  type: v.literal("TemplateLiteral"),
  quasis: v.array(v.object({ value: v.object({ raw: v.string() }) })),
});
const LogCall = v.object({
  type: v.literal("CallExpression"),
  callee: v.object({ type: v.literal("Identifier"), name: v.literal("logLine") }),
});
const Path = v.object({ node: v.union([Text, Template, LogCall]) });

/** Texts and log lines are for people: a test that asserts every word of them would be no better. */
const texts = {
  shouldIgnore(path: unknown): string | undefined {
    const found = v.safeParse(Path, path);
    if (!found.success) return undefined;
    const { node } = found.output;
    if (node.type === "CallExpression") return "a log line";
    const written = node.type === "StringLiteral" ? node.value : node.quasis.map(({ value }) => value.raw).join("");
    return written.includes(" ") ? "a text for people" : undefined;
  },
};

const Position = v.object({ line: v.number(), column: v.number() });
/** As Stryker reports it: lines and columns count from 1. */
const Tested = v.object({
  fileName: v.string(),
  location: v.object({ start: Position, end: Position }),
  mutatorName: v.string(),
  replacement: v.string(),
  status: v.string(),
  coveredBy: v.optional(v.array(v.string()), []),
  killedBy: v.optional(v.array(v.string()), []),
});

const results = {
  onMutantTested(mutant: unknown): void {
    const { fileName, location, mutatorName, replacement, status, coveredBy, killedBy } = v.parse(Tested, mutant);
    const { start, end } = location;
    const lines = readFileSync(fileName, "utf8")
      .split("\n")
      .slice(start.line - 1, end.line);
    const last = lines.length - 1;
    const original = lines
      .map((line, index) => line.slice(index === 0 ? start.column - 1 : 0, index === last ? end.column - 1 : undefined))
      .join("\n");
    const file = relative(process.cwd(), fileName);
    const place = { file, line: start.line, column: start.column };
    const result: Result = { ...place, mutator: mutatorName, original, replacement, status, coveredBy, killedBy };
    appendFileSync(process.env[RESULTS_VARIABLE] ?? "/dev/null", `${JSON.stringify(result)}\n`);
  },
};

export const strykerPlugins = [
  { kind: "Ignore", name: "texts", value: texts },
  { kind: "Reporter", name: "results", value: results },
];
