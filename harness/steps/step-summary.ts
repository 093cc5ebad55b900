import type { StepDiff } from "../engine/tool.ts";
import { firstLine, formatCount, type Members, readList, readNumber, readText, toLine, toMembers } from "./value.ts";

const MAX_LENGTH = 400;

export type StepState = "completed" | "failed" | "denied";

/** What people see of the end of a step. */
interface StepEnd {
  readonly summary?: string;
  readonly diff?: string;
}

/** Describes the result of a tool for people, or why it failed. The output may have any shape. */
export function describeEnd(name: string, state: StepState, output: unknown, diff: StepDiff | undefined): StepEnd {
  const counts = diff === undefined ? "" : `+${diff.added} −${diff.removed}`;
  const parts = [counts, describeResult(name, state, toMembers(output)) ?? ""];
  const summary = toLine(parts.filter((part) => part !== "").join(" · "), MAX_LENGTH);
  return { ...(summary === "" ? {} : { summary }), ...(diff === undefined ? {} : { diff: diff.text }) };
}

function describeResult(name: string, state: StepState, output: Members): string | undefined {
  if (output["interrupted"] === true) return "interrupted";
  if (COMMANDS.has(name) && readText(output, "command_id") !== undefined) return describeBackground(output);
  if (name === "run_command") return describeCommand(output, state);
  if (state === "denied") return "denied";
  if (state === "failed") return describeFailure(output);
  return SUMMARIES[name]?.(output);
}

/** Results of our own tools. Those of third-party agents are text, which says nothing in general. */
const SUMMARIES: Readonly<Record<string, (output: Members) => string | undefined>> = {
  read_files: describeRead,
  edit_files: describeEdit,
  search_files: describeSearch,
  glob: describeSearch,
  todo: (output) => `${readNumber(output, "done") ?? 0} done, ${readNumber(output, "open") ?? 0} open`,
  start_agent: (output) => describeRun(output),
  wait_for_agents: (output) =>
    readList(output, "agents")
      .map((run) => describeRun(toMembers(run)))
      .join("; "),
  create_pull_request: (output) => readText(output, "url"),
  call_mcp_tool: (output) => firstLine(readText(output, "text", "stdout") ?? ""),
};

/** Tools whose result has the state of a background command. */
const COMMANDS: ReadonlySet<string> = new Set(["run_command", "read_command", "stop_command"]);

function describeBackground(output: Members): string {
  const ports = readList(output, "ports").map(Number);
  const parts = [
    `${readText(output, "command_id")} ${readText(output, "state") ?? ""}`.trim(),
    ...(readNumber(output, "exit_code") === undefined ? [] : [`exit ${readNumber(output, "exit_code")}`]),
    ...(ports.length === 0 ? [] : [`port ${ports.join(", ")}`]),
    ...(output["matched"] === false ? ["not seen"] : []),
    ...(output["waiting_for_input"] === true ? ["waits for input"] : []),
    readText(output, "reason") ?? "",
  ];
  return parts.filter((part) => part !== "").join(" · ");
}

function describeCommand(output: Members, state: StepState): string {
  const took = readNumber(output, "duration_ms");
  const time = took === undefined ? "" : ` · ${formatSeconds(took)}`;
  const reason = readText(output, "exceeded");
  if (reason !== undefined) return `ended: ${reason}${time}`;
  if (output["timed_out"] === true) return `timed out${time}`;
  const signal = readText(output, "signal");
  if (signal !== undefined) return `ended by ${signal}${time}`;
  const code = readNumber(output, "exit_code");
  if (code !== undefined) return `exit ${code}${time}`;
  return state === "completed" ? "" : `${state}: ${firstLine(readText(output, "error", "stdout", "output") ?? "")}`;
}

/** The tool's own error, else those of its files, else the first line of what it printed. */
function describeFailure(output: Members): string {
  const own = output["error"];
  if (typeof own === "string") return own;
  const inside = readText(toMembers(own ?? output["result"]), "message", "error");
  if (inside !== undefined) return firstLine(inside);
  const files = readList(output, "files").map(toMembers);
  const failed = files.flatMap((file) => {
    const error = readText(file, "error");
    return error === undefined ? [] : [`${readText(file, "path") ?? "?"}: ${error}`];
  });
  if (failed.length > 0) return failed.join("; ");
  return firstLine(readText(output, "text", "stdout", "output") ?? "") || "failed";
}

function describeRead(output: Members): string | undefined {
  const files = readList(output, "files").map(toMembers);
  if (files.length === 0) {
    const text = readText(output, "stdout");
    return text === undefined ? undefined : formatCount(text.split("\n").length, "line");
  }
  const [only] = files;
  return files.length === 1 && only !== undefined ? describeFile(only) : describeFiles(files);
}

function describeFile(file: Members): string {
  if (file["directory"] === true) return formatCount(readNumber(file, "count") ?? 0, "entry", "entries");
  if (typeof file["image"] === "string") return `${file["image"]}, ${readNumber(file, "size_bytes") ?? 0} bytes`;
  if (file["binary"] === true) return `binary, ${readNumber(file, "size_bytes") ?? 0} bytes`;
  const lines = readNumber(file, "lines") ?? 0;
  const [first, last] = [readNumber(file, "start_line") ?? 1, readNumber(file, "end_line") ?? lines];
  return first === 1 && last >= lines ? formatCount(lines, "line") : `lines ${first}–${last} of ${lines}`;
}

function describeFiles(files: readonly Members[]): string {
  const lines = files.reduce(
    (sum, file) => sum + Math.max(0, (readNumber(file, "end_line") ?? -1) - (readNumber(file, "start_line") ?? 0) + 1),
    0,
  );
  return formatCount(lines, "line");
}

function describeEdit(output: Members): string | undefined {
  const [kind, ...others] = new Set(readList(output, "files").map((file) => readText(toMembers(file), "done")));
  return others.length > 0 || kind === "changed" ? undefined : kind;
}

function describeSearch(output: Members): string | undefined {
  const text = readText(output, "stdout");
  if (text !== undefined) return formatCount(text.trim().split("\n").length, "line");
  if (!Array.isArray(output["matches"])) return undefined;
  const count = output["matches"].length;
  if (count === 0) return "no matches";
  return output["cut"] === undefined ? formatCount(count, "match", "matches") : `more than ${count} matches`;
}

function describeRun(output: Members): string {
  const error = readText(output, "error");
  const parts = [readText(output, "state"), error ?? readText(output, "message")].filter((part) => part !== undefined);
  return `→ run ${readText(output, "run_id") ?? "?"} ${parts.join(": ")}`.trim();
}

const formatSeconds = (milliseconds: number): string => `${(milliseconds / 1000).toFixed(1)} s`;
