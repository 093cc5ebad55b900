import type { Block } from "../../../clients/typescript/src/index.ts";

/** A part of a conversation as text: a heading with its author, and a body. The body is empty if there is nothing to show. */
export function blockText(role: string, block: Block): [head: string, body: string] {
  switch (block.type) {
    case "text":
      return [role, block.text];
    case "action":
      return [`${role}: ${block.name}`, formatInput(block.input)];
    case "action_result":
      return [`${role}: ${block.state}`, formatOutput(block.output)];
    case "event": {
      const isSummary = block.name === "conversation_compacted";
      return [`${role}: summary of the messages before`, isSummary ? formatValue(block.data) : ""];
    }
  }
}

/** A command as a shell shows it. Its other settings are in the JSON output. */
function formatInput(input: unknown): string {
  const { command } = toMembers(input);
  return typeof command === "string" ? `$ ${command.trimEnd().replaceAll("\n", "\n  ")}` : formatValue(input);
}

const OUTPUTS = ["output", "stdout", "stderr", "error", "text"];

/** What was printed, and then the exit code and the duration. A result without text and exit code is shown as JSON. */
function formatOutput(output: unknown): string {
  const members = toMembers(output);
  const printed = OUTPUTS.map((name) => members[name]).filter((text) => typeof text === "string" && text !== "");
  const { exit_code: code, duration_ms: took } = members;
  const end = [
    ...(typeof code === "number" ? [`exit ${code}`] : []),
    ...(typeof took === "number" ? [`${(took / 1000).toFixed(1)} s`] : []),
  ];
  if (printed.length === 0 && typeof code !== "number") return formatValue(output);
  return [...printed.map((text) => String(text).trimEnd()), end.join(" · ")].filter((part) => part !== "").join("\n");
}

const toMembers = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? Object.fromEntries(Object.entries(value)) : {};

const formatValue = (value: unknown): string =>
  typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? "");
