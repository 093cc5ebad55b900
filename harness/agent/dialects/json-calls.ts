import { parseJson } from "../../support/parse-json.ts";
import { isMembers, type Members, toList, toText } from "./members.ts";
import { splitReasoning } from "./think-text.ts";

/**
 * Tool calls of Chat Completions as JSON texts, for models whose server does not show them the tools of a request: the tools are in the
 * instructions, a response format makes the response a call or an answer, and calls and results of the conversation are texts.
 */

/** A tool of a request. */
interface Tool {
  readonly name: string;
  readonly description: string;
  /** The JSON Schema of its input. */
  readonly input: Members;
}

/** Whether a request offers tools. */
export const hasTools = (body: Members): boolean => listTools(body).length > 0;

/** Converts a request. @param acceptsFormat whether the server accepts a response format */
export function writeJsonCalls(body: Members, acceptsFormat: boolean): Members {
  const { tools: _, tool_choice, parallel_tool_calls: __, ...rest } = body;
  const tools = listTools(body);
  const names = new Map(toList(body["messages"]).filter(isMembers).flatMap(listNames));
  const messages = toList(body["messages"]).map((message) => (isMembers(message) ? toPlain(message, names) : message));
  if (tools.length === 0) return { ...rest, messages: joinNeighbours(messages) };
  const description = { role: "system", content: describeTools(tools) };
  const format = { type: "json_schema", json_schema: { name: "step", schema: createSchema(tools, tool_choice) } };
  // Templates accept one system message, and only as the first.
  const at = messages.findLastIndex((message) => isMembers(message) && message["role"] === "system") + 1;
  return {
    ...rest,
    messages: joinNeighbours([...messages.slice(0, at), description, ...messages.slice(at)]),
    ...(acceptsFormat ? { response_format: format } : {}),
  };
}

/** Converts the JSON of a response to the tool call or the answer that it is; any other response stays as it is. */
export function readJsonCalls(whole: unknown): unknown {
  if (!isMembers(whole)) return whole;
  const [choice, ...others] = toList(whole["choices"]);
  if (!isMembers(choice) || !isMembers(choice["message"])) return whole;
  const { message } = choice;
  const { text, reasoning } = splitReasoning(toText(message["content"]));
  const thoughts = reasoning === "" ? {} : { reasoning_content: reasoning };
  const change = (changed: Members) => ({
    ...whole,
    choices: [{ ...choice, message: { ...message, ...thoughts, ...changed } }, ...others],
  });
  const isCut = choice["finish_reason"] === "length";
  const step = parseStep(text) ?? (isCut ? parseStep(`${text}"}`) : undefined);
  if (step === undefined) return isCut && text.startsWith("{") ? change({ content: "" }) : whole;
  if (typeof step["answer"] === "string") return change({ content: step["answer"] });
  const call = { name: step["tool"], arguments: JSON.stringify(step["input"] ?? {}) };
  return change({ content: "", tool_calls: [{ type: "function", function: call }] });
}

/** A call or an answer; undefined for anything else. */
function parseStep(text: string): Members | undefined {
  const parsed = parseJson(removeFence(text));
  const isStep = isMembers(parsed) && (typeof parsed["tool"] === "string" || typeof parsed["answer"] === "string");
  return isStep ? parsed : undefined;
}

/** Removes the fence of a Markdown block. Only the ends are searched: a model may repeat a character up to its token limit. */
function removeFence(text: string): string {
  const block = text.trim();
  if (!block.startsWith(FENCE) || !block.endsWith(FENCE)) return text;
  return block.slice(FENCE.length, -FENCE.length).replace(/^json/, "");
}

const FENCE = "```";

const listTools = (body: Members): Tool[] =>
  toList(body["tools"]).flatMap((tool) => {
    const { name, description, parameters } = isMembers(tool) && isMembers(tool["function"]) ? tool["function"] : {};
    const { $schema: _, ...input } = isMembers(parameters) ? parameters : { type: "object" };
    return typeof name === "string" ? [{ name, description: toText(description), input }] : [];
  });

function describeTools(tools: readonly Tool[]): string {
  const list = tools.map(
    ({ name, description, input }) => `## ${name}\n${description}\nSchema of its input: ${JSON.stringify(input)}`,
  );
  return `# Tools
Each of your responses is one JSON object and nothing else: {"tool": "NAME", "input": {…}} to call a tool, whose result you get next, or \
{"answer": "TEXT"} to end with your answer. These are the tools:

${list.join("\n\n")}`;
}

/** The schema of a call or an answer; of a call alone if the request demands one. */
const createSchema = (tools: readonly Tool[], choice: unknown): Members => ({
  anyOf: [
    ...tools.map(({ name, input }) => ({
      type: "object",
      properties: { tool: { const: name }, input },
      required: ["tool", "input"],
      additionalProperties: false,
    })),
    ...(choice === "required" ? [] : [ANSWER]),
  ],
});

const ANSWER = {
  type: "object",
  properties: { answer: { type: "string" } },
  required: ["answer"],
  additionalProperties: false,
};

const listCalls = (message: Members): Members[] => toList(message["tool_calls"]).filter(isMembers);

/** The names of the tools that a message calls, by the ids of its calls. */
const listNames = (message: Members): [unknown, string][] =>
  listCalls(message).map(({ id, function: called }) => [id, isMembers(called) ? toText(called["name"]) : ""]);

/** Writes the calls and results of a message as text. */
function toPlain(message: Members, names: ReadonlyMap<unknown, string>): Members {
  const { role, content, tool_call_id } = message;
  if (role === "tool") {
    const head = `Result of ${names.get(tool_call_id) ?? "the tool"}:`;
    const text = Array.isArray(content) ? [{ type: "text", text: head }, ...content] : `${head}\n${toText(content)}`;
    return { role: "user", content: text };
  }
  const calls = listCalls(message);
  if (calls.length === 0) return message;
  const steps = calls.map(({ function: called }) => {
    const { name, arguments: input } = isMembers(called) ? called : {};
    return `{"tool": ${JSON.stringify(name)}, "input": ${toText(input) || "{}"}}`;
  });
  return { role, content: [toText(content), ...steps].filter((text) => text !== "").join("\n") };
}

/** Joins neighbours of one role, because some templates require that the roles alternate. */
export function joinNeighbours(messages: readonly unknown[], isJoined = (_role: unknown) => true): unknown[] {
  const joined: unknown[] = [];
  for (const message of messages) {
    const last = joined.at(-1);
    if (isMembers(last) && isMembers(message) && last["role"] === message["role"] && isJoined(message["role"])) {
      joined[joined.length - 1] = { ...last, content: joinContents(last["content"], message["content"]) };
    } else joined.push(message);
  }
  return joined;
}

function joinContents(one: unknown, other: unknown): unknown {
  if (!Array.isArray(one) && !Array.isArray(other)) return `${toText(one)}\n\n${toText(other)}`;
  const toParts = (content: unknown) => (Array.isArray(content) ? content : [{ type: "text", text: toText(content) }]);
  return [...toParts(one), ...toParts(other)];
}
