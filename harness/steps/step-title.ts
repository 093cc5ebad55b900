import {
  firstLine,
  formatCount,
  type Members,
  readList,
  readNumber,
  readText,
  SEARCHED_CHARACTERS,
  toLine,
  toMembers,
} from "./value.ts";

/** The longest title. The API takes more, because redaction may lengthen it. */
const MAX_LENGTH = 200;
const MAX_FILES = 3;
/** The longest arguments of an unknown tool. */
const ARGUMENTS_LENGTH = 120;
const ARGUMENT_LENGTH = 60;
/** The part of a text argument that is read. */
const READ_CHARACTERS = 200;

/** Describes the use of a tool in one line for people, such as `Read calc.py 1–6`. The input may have any shape. */
export function formatTitle(name: string, input: unknown): string {
  const members = toMembers(input);
  return toLine(TITLES[name]?.(members) ?? formatCall(name, members), MAX_LENGTH) || toLine(name, MAX_LENGTH) || "step";
}

type Title = (input: Members) => string | undefined;

/** Titles by the tool's name in the conversation. Third-party agents have inputs of their own. */
const TITLES: Readonly<Record<string, Title>> = {
  run_command: titleOfCommand,
  read_command: titleOfRead,
  write_command: (input) => after("Send input to", readText(input, "command_id")),
  stop_command: (input) => after("Stop", readText(input, "command_id")),
  read_files: (input) => withFiles("Read", listRead(input)),
  edit_files: titleOfEdit,
  search_files: titleOfSearch,
  glob: (input) => after("Find", quote(readText(input, "pattern"))),
  load_skill: (input) => after("Load skill", readText(input, "id")),
  Skill: (input) => after("Load skill", readText(input, "skill", "command")),
  activate_skill: (input) => after("Load skill", readText(input, "name", "skill")),
  start_agent: (input) => after("Start agent", quote(readText(input, "title") ?? readText(input, "prompt"))),
  wait_for_agents: (input) => `Wait for ${formatCount(readList(input, "run_ids").length, "agent")}`,
  message_agent: (input) => after("Message agent", readText(input, "run_id")),
  Task: (input) => after("Start subagent", quote(readText(input, "description", "prompt"))),
  Agent: (input) => after("Start subagent", quote(readText(input, "description", "prompt"))),
  create_plan: titleOfPlan,
  todo: titleOfPlan,
  ask_user: (input) => after("Ask:", readText(input, "question")),
  notify_user: (input) => after("Notify:", readText(input, "message")),
  report_artifact: (input) => after("Report artifact", readText(input, "path", "title", "url")),
  create_pull_request: (input) => after("Open pull request", quote(readText(input, "title"))),
  call_mcp_tool: titleOfMcpCall,
  WebFetch: (input) => after("Fetch", readText(input, "url")),
  web_fetch: (input) => after("Fetch", readText(input, "url", "prompt")),
  WebSearch: titleOfWebSearch,
  web_search: titleOfWebSearch,
  google_web_search: titleOfWebSearch,
};

function titleOfCommand({ command, background }: Members): string | undefined {
  if (typeof command !== "string") return undefined;
  return background === true ? `${firstCommand(command)} (background)` : firstCommand(command);
}

function titleOfRead(input: Members): string | undefined {
  const id = readText(input, "command_id");
  const [line, port] = [quote(readText(input, "wait_for")), readNumber(input, "port")];
  const awaited = [...(line === undefined ? [] : [line]), ...(port === undefined ? [] : [`port ${port}`])];
  if (id === undefined || awaited.length === 0) return after("Read the output of", id);
  return `Wait for ${awaited.join(" and ")} of ${id}`;
}

/** The first line of a script that is not a comment. */
function firstCommand(command: string): string {
  const lines = command.slice(0, SEARCHED_CHARACTERS).split("\n");
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
  const files = readList(input, "files").map(toMembers);
  if (files.length > 0)
    return files.map((file) =>
      withRange(readText(file, "path") ?? "?", readNumber(file, "start_line"), readNumber(file, "end_line")),
    );
  const path = readText(input, "file_path", "absolute_path", "path", "dir_path", "filePath");
  if (path === undefined) return readList(input, "paths").map(String);
  const [offset, limit] = [readNumber(input, "offset"), readNumber(input, "limit")];
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
  const edits = [...readList(input, "edits"), ...readList(input, "changes")].map(toMembers);
  const path = readText(input, "file_path", "notebook_path", "filePath");
  if (path !== undefined) return `${input["content"] === undefined ? "Edit" : "Write"} ${path}`;
  const paths = [...new Set(edits.map((edit) => readText(edit, "path") ?? "?"))];
  const kinds = new Set(edits.map((edit) => VERBS[readText(edit, "action", "kind") ?? ""] ?? "Edit"));
  const [only = "Edit"] = kinds;
  return withFiles(kinds.size === 1 ? only : "Edit", paths);
}

function titleOfSearch(input: Members): string | undefined {
  const what = quote(readText(input, "pattern", "query"));
  const where = readText(input, "path", "dir_path");
  const kind = readText(input, "glob", "include");
  if (what === undefined) return undefined;
  return `Search ${what}${where === undefined ? "" : ` in ${where}`}${kind === undefined ? "" : ` (${kind})`}`;
}

function titleOfPlan(input: Members): string | undefined {
  const title = readText(input, "title");
  if (title !== undefined) return `Plan ${quote(title)}`;
  const items = [...readList(input, "todos"), ...readList(input, "items")];
  if (items.length > 0) return `Update the to-do list (${formatCount(items.length, "item")})`;
  return readText(input, "plan") === undefined ? undefined : "Present a plan";
}

function titleOfMcpCall(input: Members): string | undefined {
  const [server, tool] = [readText(input, "server"), readText(input, "tool")];
  if (tool === undefined) return after("List tools of", server);
  return formatCall(server === undefined ? tool : `${server}.${tool}`, toMembers(input["arguments"]));
}

function titleOfWebSearch(input: Members): string | undefined {
  return after("Search the web for", quote(readText(input, "query")));
}

/** Formats a call as a programmer would write it: `server.tool(name: "value")`. */
function formatCall(name: string, input: Members): string {
  const members = Object.entries(input).map(
    ([member, value]) => `${member}: ${toLine(formatValue(value), ARGUMENT_LENGTH)}`,
  );
  return `${name}(${toLine(members.join(", "), ARGUMENTS_LENGTH)})`;
}

const formatValue = (value: unknown): string =>
  typeof value === "string" ? JSON.stringify(value.slice(0, READ_CHARACTERS)) : (JSON.stringify(value) ?? "null");
