import { randomUUID } from "node:crypto";
import { appendFileSync } from "node:fs";
import { printable } from "../cli/src/terminal-text.ts";

/** The job around the action, as a runner makes it: environment, log, and the signals of a cancelled job. */
export interface Job {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Writes a line to the job's log. */
  readonly print: (line: string) => void;
  /** Calls the listener when the job is cancelled, until the returned function is called. */
  readonly onCancel: (listener: () => void) => () => void;
}

/** An input of action.yml; undefined if it is empty. */
export function input({ env }: Job, name: string): string | undefined {
  const value = env[`INPUT_${name.toUpperCase()}`]?.trim() ?? "";
  return value === "" ? undefined : value;
}

/** The lines of an input that takes several. */
export const inputLines = (job: Job, name: string): string[] =>
  (input(job, name) ?? "")
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");

/** A command to the runner, such as `::group::title`. */
export function command(job: Job, name: string, text: string, properties: Readonly<Record<string, string>> = {}): void {
  const escaped = Object.entries(properties).map(
    ([key, value]) => `${key}=${escapeData(value).replaceAll(":", "%3A").replaceAll(",", "%2C")}`,
  );
  job.print(`::${name}${escaped.length === 0 ? "" : ` ${escaped.join(",")}`}::${escapeData(printable(text))}`);
}

const escapeData = (text: string): string =>
  text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");

/**
 * Foreign text, line by line, in a form that is no command to the runner: those begin a line with `::`, or have
 * `##[` anywhere in it.
 */
export function printText(job: Job, text: string, before: string): void {
  for (const line of printable(text).split("\n")) {
    const escaped = `${before}${line.replaceAll("##[", "##\u200b[")}`;
    job.print(escaped.trimStart().startsWith("::") ? `\u200b${escaped.trimStart()}` : escaped);
  }
}

/** Sets an output of the step. The delimiter is one that no value can guess. */
export function setOutput({ env }: Job, name: string, value: string): void {
  const file = env["GITHUB_OUTPUT"];
  if (file === undefined || file === "") return;
  const delimiter = `end-${randomUUID()}`;
  appendFileSync(file, `${name}<<${delimiter}\n${value}\n${delimiter}\n`);
}

/** Adds to the page that the job's summary is. */
export function addSummary({ env }: Job, markdown: string): void {
  const file = env["GITHUB_STEP_SUMMARY"];
  if (file !== undefined && file !== "") appendFileSync(file, `${markdown}\n`);
}
