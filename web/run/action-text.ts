import { toWords } from "../ui/format.ts";
import type { ActionEntry } from "./feed.ts";
import { memberOf, readText } from "./members.ts";

/** A one-line title of an action: its own, the command, or what it does with what. */
export function actionTitle({ name, title, input }: ActionEntry): { text: string; isCode: boolean } {
  const command = readText(input, "command");
  if (name === "run_command" && command !== undefined) {
    const [first = ""] = command
      .trim()
      .split("\n")
      .filter((line) => line.trim() !== "" && !line.trim().startsWith("#"));
    return { text: first.slice(0, 300) || "Command", isCode: true };
  }
  if (name === "ask_user") return { text: "Question", isCode: false };
  if (name === "notify_user") return { text: "Notice to the user", isCode: false };
  if (title !== undefined && title.trim() !== "") return { text: title, isCode: false };
  const paths = listPaths(input);
  const subject =
    paths.length > 0 ? paths.slice(0, 3).join(", ") + (paths.length > 3 ? ` and ${paths.length - 3} more` : "") : "";
  const detail = subject || (DETAILS.map((member) => readText(input, member)).find(Boolean) ?? "");
  return { text: `${toWords(name)}${detail === "" ? "" : `: ${detail.slice(0, 200)}`}`, isCode: false };
}

/** Members that say best what an action is about. Third-party agents name a file in ways of their own. */
const DETAILS = ["pattern", "query", "title", "tool", "url", "path", "file_path", "absolute_path", "notebook_path"];

function listPaths(input: unknown): string[] {
  for (const list of [memberOf(input, "edits"), memberOf(input, "files"), memberOf(input, "changes")]) {
    if (Array.isArray(list)) return list.flatMap((one) => readText(one, "path") ?? []);
  }
  return [];
}

/** The text of a result. What has no text is shown as data. */
export function outputText(output: unknown): string {
  if (typeof output === "string") return output;
  const texts = ["output", "stdout", "stderr", "error", "text"].map((name) => readText(output, name) ?? "");
  const nonEmpty = texts.filter((text) => text !== "");
  if (nonEmpty.length > 0) return nonEmpty.join("\n");
  if (memberOf(output, "stdout") !== undefined || output === undefined || output === null) return "";
  return JSON.stringify(output, undefined, 2);
}

/** Input or output as text. */
export const asJson = (value: unknown): string =>
  value === undefined || value === null ? "" : typeof value === "string" ? value : JSON.stringify(value, undefined, 2);
