import { type Members, readNumber, toMembers } from "../steps/value.ts";

/**
 * Formats the result of a tool as plain text for the model, which reads it with fewer tokens and errors than JSON in a JSON text: short
 * members as `name: value`, texts as they are, files with the numbers of their lines.
 */
export function formatResult(output: unknown): string {
  if (typeof output === "string") return output;
  if (typeof output !== "object" || output === null || Array.isArray(output)) return JSON.stringify(output ?? null);
  const short: string[] = [];
  const long: string[] = [];
  for (const [name, value] of Object.entries(output)) {
    const text = formatMember(name, value);
    (text.includes("\n") ? long : short).push(text);
  }
  // Providers refuse an empty text.
  return [...short, ...long].join("\n") || "no result";
}

function formatMember(name: string, value: unknown): string {
  if (Array.isArray(value)) return formatList(name, value);
  if (typeof value === "string") return value.includes("\n") ? `${name}:\n${value}` : `${name}: ${value}`;
  return `${name}: ${JSON.stringify(value)}`;
}

function formatList(name: string, values: readonly unknown[]): string {
  if (values.length === 0) return `${name}: none`;
  if (name === "files") return values.map((value) => formatFile(toMembers(value))).join("\n");
  const lines = values.map((value) => (isPlain(value) ? String(value) : formatItem(value)));
  return `${name}:\n${lines.join("\n")}`;
}

const isPlain = (value: unknown): boolean => typeof value === "string" || typeof value === "number";

/** An item whose members all fit into lines is a paragraph; any other stays JSON. */
function formatItem(value: unknown): string {
  const members = Object.values(toMembers(value));
  return members.length > 0 && members.every(isPlain) ? formatResult(value) : JSON.stringify(value);
}

function formatFile({ content, start_line, end_line, lines, names, count, ...rest }: Members): string {
  const file: Members = { start_line, end_line, lines, count };
  const { path = "", ...others } = rest;
  const range = lines === undefined ? "" : ` (${formatRange(file)})`;
  const head = `${String(path)}${range}`;
  const more = Object.entries(others).map(([name, value]) => formatMember(name, value));
  if (Array.isArray(names)) return [`${head} (${String(count)} entries)`, ...names.map(String)].join("\n");
  const text = typeof content === "string" ? numberLines(content, readNumber(file, "start_line") ?? 1) : [];
  return [more.length === 0 ? head : `${head}\n${more.join("\n")}`, ...text].join("\n");
}

function formatRange(file: Members): string {
  const [start, end, all] = ["start_line", "end_line", "lines"].map((name) => readNumber(file, name) ?? 0);
  return `lines ${start}–${end} of ${all}; the numbers are not part of the file`;
}

function numberLines(content: string, first: number): string[] {
  if (content === "") return [];
  const lines = content.replace(/\n$/, "").split("\n");
  return lines.map((line, index) => `${first + index}\t${line}`);
}
