import { firstLine, formatCount, listOf, type Members, numberOf, textOf, toLine, toMembers } from "./value.ts";

/** The longest title. The API takes more, because redaction may lengthen it. */
const MAX_LENGTH = 200;
const MAX_FILES = 3;
/** The longest arguments of an unknown tool. */
const ARGUMENTS_LENGTH = 120;

/** Describes the use of a tool in one line for people, such as `Read calc.py 1–6`. The input may have any shape. */
export function titleOf(name: string, input: unknown): string {
  const members = toMembers(input);
  return toLine(TITLES[name]?.(members) ?? formatCall(name, members), MAX_LENGTH) || toLine(name, MAX_LENGTH) || "step";
}

type Title = (input: Members) => string | undefined;

/** Titles by the tool's name in the conversation. Third-party agents have inputs of their own. */
const TITLES: Readonly<Record<string, Title>> = {
  run_command: ({ command }) => (typeof command === "string" ? firstCommand(command) : undefined),
  read_files: (input) => withFiles("Read", listRead(input)),
  edit_files: titleOfEdit,
  search_files: titleOfSearch,
  load_skill: (input) => after("Load skill", textOf(input, "id")),
  Skill: (input) => after("Load skill", textOf(input, "skill", "command")),
  activate_skill: (input) => after("Load skill", textOf(input, "name", "skill")),
  start_agent: (input) => after("Start agent", quote(textOf(input, "title") ?? textOf(input, "prompt"))),
  wait_for_agents: (input) => `Wait for ${formatCount(listOf(input, "run_ids").length, "agent")}`,
  message_agent: (input) => after("Message agent", textOf(input, "run_id")),
  Task: (input) => after("Start subagent", quote(textOf(input, "description", "prompt"))),
  Agent: (input) => after("Start subagent", quote(textOf(input, "description", "prompt"))),
  create_plan: titleOfPlan,
  ask_user: (input) => after("Ask:", textOf(input, "question")),
  notify_user: (input) => after("Notify:", textOf(input, "message")),
  report_artifact: (input) => after("Report artifact", textOf(input, "path", "title", "url")),
  create_pull_request: (input) => after("Open pull request", quote(textOf(input, "title"))),
  call_mcp_tool: titleOfMcpCall,
  WebFetch: (input) => after("Fetch", textOf(input, "url")),
  web_fetch: (input) => after("Fetch", textOf(input, "url", "prompt")),
  WebSearch: titleOfWebSearch,
  web_search: titleOfWebSearch,
  google_web_search: titleOfWebSearch,
};

/** The first line of a script that is not a comment. */
function firstCommand(command: string): string {
  const lines = command.slice(0, 16_384).split("\n");
  return (lines.find((line) => line.trim() !== "" && !line.trim().startsWith("#")) ?? firstLine(command)).trim();
}

const after = (verb: string, what: string | undefined): string | undefined =>
  what === undefined ? undefined : `${verb} ${firstLine(what).trim()}`;

const quote = (text: string | undefined): string | undefined =>
  text === undefined ? undefined : `"${firstLine(text).trim()}"`;

function withFiles(verb: string, files: readonly string[]): string | undefined {
  if (files.length === 0) return undefined;
  if (files.length === 1) return `${verb} ${files[0]}`;
  const more = files.length > MAX_FILES ? ", …" : "";
  return `${verb} ${files.length} files: ${files.slice(0, MAX_FILES).join(", ")}${more}`;
}

function listRead(input: Members): string[] {
  const files = listOf(input, "files").map(toMembers);
  if (files.length > 0)
    return files.map((file) =>
      withRange(textOf(file, "path") ?? "?", numberOf(file, "start_line"), numberOf(file, "end_line")),
    );
  const path = textOf(input, "file_path", "absolute_path", "path", "dir_path");
  if (path === undefined) return listOf(input, "paths").map(String);
  const [offset, limit] = [numberOf(input, "offset"), numberOf(input, "limit")];
  return [withRange(path, offset, limit === undefined ? undefined : (offset ?? 1) + limit - 1)];
}

const withRange = (path: string, first: number | undefined, last: number | undefined): string =>
  first === undefined && last === undefined ? path : `${path} ${first ?? 1}–${last ?? ""}`;

const VERBS: Readonly<Record<string, string>> = {
  write: "Write",
  delete: "Delete",
  add: "Write",
};

function titleOfEdit(input: Members): string | undefined {
  const edits = [...listOf(input, "edits"), ...listOf(input, "changes")].map(toMembers);
  const path = textOf(input, "file_path", "notebook_path");
  if (path !== undefined) return `${input["content"] === undefined ? "Edit" : "Write"} ${path}`;
  const paths = [...new Set(edits.map((edit) => textOf(edit, "path") ?? "?"))];
  const kinds = new Set(edits.map((edit) => VERBS[textOf(edit, "action", "kind") ?? ""] ?? "Edit"));
  const [only = "Edit"] = kinds;
  return withFiles(kinds.size === 1 ? only : "Edit", paths);
}

function titleOfSearch(input: Members): string | undefined {
  const what = quote(textOf(input, "pattern", "query"));
  const where = textOf(input, "path", "dir_path");
  const kind = textOf(input, "glob", "include");
  if (what === undefined) return undefined;
  return `Search ${what}${where === undefined ? "" : ` in ${where}`}${kind === undefined ? "" : ` (${kind})`}`;
}

function titleOfPlan(input: Members): string | undefined {
  const title = textOf(input, "title");
  if (title !== undefined) return `Plan ${quote(title)}`;
  const items = [...listOf(input, "todos"), ...listOf(input, "items")];
  if (items.length > 0) return `Update the to-do list (${formatCount(items.length, "item")})`;
  return textOf(input, "plan") === undefined ? undefined : "Present a plan";
}

function titleOfMcpCall(input: Members): string | undefined {
  const [server, tool] = [textOf(input, "server"), textOf(input, "tool")];
  if (tool === undefined) return after("List tools of", server);
  return formatCall(server === undefined ? tool : `${server}.${tool}`, toMembers(input["arguments"]));
}

function titleOfWebSearch(input: Members): string | undefined {
  return after("Search the web for", quote(textOf(input, "query")));
}

/** Formats a call as a programmer would write it: `server.tool(name: "value")`. */
function formatCall(name: string, input: Members): string {
  const shown = Object.entries(input).map(([member, value]) => `${member}: ${toLine(formatValue(value), 60)}`);
  return `${name}(${toLine(shown.join(", "), ARGUMENTS_LENGTH)})`;
}

const formatValue = (value: unknown): string =>
  typeof value === "string" ? JSON.stringify(value.slice(0, 200)) : (JSON.stringify(value) ?? "null");
