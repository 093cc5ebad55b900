import { readFileSync, statSync } from "node:fs";
import { parseEnv } from "node:util";
import { Problem, warn } from "../host/terminal.ts";
import { UsageError } from "./usage.ts";

/** Names that the file may have: settings of Runyard, of its collector of traces, and of proxies. */
const NAME = /^(RUNYARD_[A-Z0-9_]+|OTEL_[A-Z0-9_]+|(HTTPS?|NO)_PROXY)$/;

/**
 * Reads the file that `--settings FILE` or `RUNYARD_SETTINGS` names, and adds its variables to the environment. Variables that
 * are set already take precedence. All commands have this option, so that they find the same data and service.
 * @returns the arguments without the option
 * @throws UsageError if the file is not named, Problem if it cannot be read or has another name
 */
export function applySettings(args: readonly string[], environment: NodeJS.ProcessEnv): readonly string[] {
  const index = args.findIndex((arg) => arg === "--settings" || arg.startsWith("--settings="));
  const isSeparate = args[index] === "--settings";
  const named = isSeparate ? args[index + 1] : args[index]?.slice("--settings=".length);
  if (index !== -1 && (named ?? "") === "") throw new UsageError("--settings needs the path of a file.");
  const file = named ?? environment["RUNYARD_SETTINGS"];
  if (file !== undefined && file !== "") {
    for (const [name, value] of Object.entries(readSettings(file))) environment[name] ??= value;
  }
  return index === -1 ? args : args.toSpliced(index, isSeparate ? 2 : 1);
}

function readSettings(file: string): NodeJS.Dict<string> {
  const settings = parseEnv(readText(file));
  const wrong = Object.keys(settings).filter((name) => !NAME.test(name));
  if (wrong.length > 0) {
    throw new Problem(`${file} has unknown settings: ${wrong.join(", ")}.`, [
      "Settings begin with RUNYARD_ or OTEL_: docs/team-server.md lists them.",
    ]);
  }
  const isSecret = Object.keys(settings).some((name) => /(KEY|SECRET|TOKEN)$/.test(name));
  if (isSecret && (statSync(file).mode & 0o077) !== 0) warn(`Others can read the keys in ${file}: chmod 600 ${file}`);
  return settings;
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new Problem(`The settings cannot be read: ${error instanceof Error ? error.message : String(error)}.`);
  }
}
