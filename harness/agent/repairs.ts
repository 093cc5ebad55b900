import { joinNeighbours } from "./dialects/json-calls.ts";
import { isMembers, type Members, toList, toText } from "./dialects/members.ts";
import { createRefusals, createRefusalTest, type OptionalMembers } from "./optional-members.ts";
import { simplifyTools } from "./simple-schemas.ts";

/** Changes of requests that a server has refused, each of which makes them poorer, so none is made before. */
export const createRepairs = (): readonly OptionalMembers[] => [
  createBareMessages(),
  createRepair(SCHEMA_REFUSAL, simplifyTools),
  createRepair(SYSTEM_REFUSAL, forChat(moveSystemText)),
  createRepair(ORDER_REFUSAL, forChat(alternateRoles)),
];

type Change = OptionalMembers["add"];

const forChat =
  (change: (body: Members) => Members): Change =>
  (api, body) =>
    api === "chat" ? change(body) : body;

/** Changes the requests of a model after the refusal that asks for it, which is a 500 where a server fails to build its prompt. */
function createRepair(refusal: RegExp, change: Change): OptionalMembers {
  const refusals = createRefusals(createRefusalTest(refusal, [400, 422, 500]));
  return {
    removes: true,
    add: (api, body) => (refusals.has(body) ? change(api, body) : body),
    isRefused: refusals.add,
  };
}

/** Gemini, llama.cpp, OpenAI and Anthropic about the schema of a tool's input. */
const SCHEMA_REFUSAL =
  /Unknown name .{1,300}(?:function_declarations|parameters)|failed to parse grammar|JSON schema conversion failed|unrecognized schema|invalid schema for function|invalid_function_parameters|input_schema(?:: | does not | is )|function_declarations?\[\d+\]/i;

const SYSTEM_REFUSAL = /system (?:role|messages?|prompt)(?: is| are)? not supported|only user(?:,| and) assistant/i;

/** Mistral's API, and templates of Mistral, Gemma and others, in vLLM and llama.cpp. */
const ORDER_REFUSAL =
  /roles must alternate|unexpected role '?\w+'? after role|invalid_request_message_order|must alternate between|(?:consecutive|two) (?:user|assistant) messages/i;

/** Members of a message of the model that every server knows. */
const KNOWN = new Set(["role", "content", "tool_calls", "name", "refusal"]);
const UNKNOWN_MEMBER =
  /unsupported|not supported|un(?:recognized|known|expected)|extra|not (?:permitted|allowed)|additional propert/i;

/** Leaves out what a server has returned with its messages, and does not accept back: Groq, Cerebras and Mistral. */
function createBareMessages(): OptionalMembers {
  const refusals = createRefusals(createRefusalTest(UNKNOWN_MEMBER));
  const names = (body: Members) => [...new Set(toList(body["messages"]).filter(isOfModel).flatMap(listExtras))];
  return {
    removes: true,
    add: (api, body) =>
      api === "chat" && refusals.has(body)
        ? {
            ...body,
            messages: toList(body["messages"]).map((message) => (isOfModel(message) ? toBare(message) : message)),
          }
        : body,
    isRefused: (body, status, text) =>
      names(body).some((name) => new RegExp(`\\b${name}\\b`).test(text)) && refusals.add(body, status, text),
  };
}

const isOfModel = (message: unknown): message is Members => isMembers(message) && message["role"] === "assistant";

const listExtras = (message: Members): string[] =>
  [
    ...Object.keys(message).filter((name) => !KNOWN.has(name)),
    ...toList(message["tool_calls"])
      .filter(isMembers)
      .flatMap((call) => Object.keys(call).filter((name) => !["id", "type", "function"].includes(name))),
  ].filter((name) => /^\w+$/.test(name));

function toBare({ role, content, tool_calls, name }: Members): Members {
  const calls = toList(tool_calls)
    .filter(isMembers)
    .map(({ id, function: called }) => {
      const { name: tool, arguments: input } = isMembers(called) ? called : {};
      return { id, type: "function", function: { name: tool, arguments: input } };
    });
  return {
    role,
    content: content ?? "",
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
    ...(name === undefined ? {} : { name }),
  };
}

/** Puts the instructions before the first text of the user, for templates without a place for them. */
function moveSystemText(body: Members): Members {
  const messages = toList(body["messages"]);
  const isSystem = (message: unknown) => isMembers(message) && message["role"] === "system";
  const system = messages.filter(isSystem).map((message) => ({ ...Object(message), role: "user" }));
  return { ...body, messages: joinTexts([...system, ...messages.filter((message) => !isSystem(message))]) };
}

/** Joins neighbours of one role. Messages of the model and results of tools stay as they are, since a call and its result belong together. */
const joinTexts = (messages: readonly unknown[]): unknown[] =>
  joinNeighbours(messages, (role) => role === "user" || role === "system");

const BRIDGE = { role: "assistant", content: "I have the results." };

/** Joins neighbours of one role, and puts a message of the model between a tool's result and a text of the user. */
function alternateRoles(body: Members): Members {
  const roleOf = (message: unknown) => (isMembers(message) ? toText(message["role"]) : "");
  const joined = joinTexts(toList(body["messages"]));
  const messages = joined.flatMap((message, index) =>
    roleOf(message) === "user" && roleOf(joined[index - 1]) === "tool" ? [BRIDGE, message] : [message],
  );
  return { ...body, messages };
}
