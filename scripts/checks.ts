import { globSync, readdirSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { type CommandResult, root, runTool } from "./run-command.ts";

export interface CheckResult {
  name: string;
  ok: boolean;
  /** What the tool found; empty where it found nothing. */
  output: string;
  seconds: number;
}

const checks: Record<string, () => Promise<CommandResult>> = {
  biome: () => runTool("biome", ["check", "--error-on-warnings", "--colors=off", "--max-diagnostics=200", "."]),
  tsc: checkTypes,
  layers: checkLayers,
  knip: () => runTool("knip", ["--no-progress", "--treat-config-hints-as-errors"]),
};

export const checkNames: readonly string[] = Object.keys(checks);

/** Runs the named checks side by side and reports each as soon as all are done, in their own order. */
export function runChecks(names: readonly string[] = checkNames): Promise<CheckResult[]> {
  return Promise.all(names.map(runCheck));
}

export function describeCheck({ name, ok, output, seconds }: CheckResult): string {
  const line = `${ok ? "ok    " : "FAILED"} ${name} (${seconds.toFixed(1)} s)`;
  return ok || output === "" ? line : `${line}\n${output.replace(/^/gm, "  ")}`;
}

async function runCheck(name: string): Promise<CheckResult> {
  const check = checks[name];
  if (check === undefined) {
    return { name, ok: false, output: `there is no such check; there are: ${checkNames.join(", ")}`, seconds: 0 };
  }
  const { exitCode, output, seconds } = await check();
  return { name, ok: exitCode === 0, output, seconds };
}

/** The repository's own types, and those of the client of TypeScript, which knows other globals. */
async function checkTypes(): Promise<CommandResult> {
  const programs = await Promise.all(
    [".", "clients/typescript"].map((project) => runTool("tsc", ["-p", project, "--noEmit", "--pretty", "false"])),
  );
  return {
    exitCode: programs.every(({ exitCode }) => exitCode === 0) ? 0 : 1,
    output: programs
      .map(({ output }) => output)
      .join("\n")
      .trim(),
    seconds: Math.max(...programs.map(({ seconds }) => seconds)),
  };
}

/**
 * dependency-cruiser passes happily over files that it has no parser for. So the files it read are counted against the
 * files there are: a layer that nobody looked at is a failure.
 */
async function checkLayers(): Promise<CommandResult> {
  const folders = codeFolders();
  const options = ["--config", ".dependency-cruiser.cjs", "--output-type", "json"];
  const result = await runTool("depcruise", [...options, ...folders], { preload: "scripts/read-using.mjs" });
  const report = parseReport(result.output);
  if (report === undefined) {
    return { ...result, exitCode: result.exitCode === 0 ? 1 : result.exitCode };
  }
  const read = new Set(report.modules.map((module) => module.source));
  const unread = typescriptFiles(folders).filter((file) => !read.has(file));
  const lines = report.summary.violations.map(describeViolation);
  if (unread.length > 0) {
    lines.push(`${unread.length} files were not read, ${unread[0]} among them (is @swc/core installed?)`);
  }
  return { ...result, exitCode: lines.length === 0 ? 0 : 1, output: lines.join("\n") };
}

const Violation = v.object({
  from: v.string(),
  to: v.string(),
  rule: v.object({ name: v.string() }),
  cycle: v.optional(v.array(v.object({ name: v.string() }))),
});
const LayersReport = v.object({
  modules: v.array(v.object({ source: v.string() })),
  summary: v.object({ violations: v.array(Violation) }),
});

/** A cycle is told whole, since any of its imports may be the one to cut. */
function describeViolation({ from, to, rule, cycle }: v.InferOutput<typeof Violation>): string {
  const way = cycle === undefined ? [to] : cycle.map(({ name }) => name);
  return `${[from, ...way].join(" → ")}: ${rule.name}`;
}

function parseReport(output: string): v.InferOutput<typeof LayersReport> | undefined {
  try {
    return v.parse(LayersReport, JSON.parse(output.slice(output.indexOf("{"), output.lastIndexOf("}") + 1)));
  } catch {
    return undefined;
  }
}

function codeFolders(): string[] {
  const other = new Set(["node_modules", "dist", "cdk.out"]);
  return readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith(".") && !other.has(entry.name))
    .map((entry) => entry.name)
    .filter((name) => typescriptFiles([name]).length > 0);
}

function typescriptFiles(folders: readonly string[]): string[] {
  return folders.flatMap((folder) =>
    globSync("**/*.{ts,tsx}", {
      cwd: join(root, folder),
      exclude: ["**/node_modules/**", "**/dist/**", "**/.venv/**"],
    }).map((file) => `${folder}/${file}`),
  );
}
