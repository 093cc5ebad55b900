import { hasTools, readJsonCalls, writeJsonCalls } from "./dialects/json-calls.ts";
import { createRefusals, isFormatRefusal, type OptionalMembers } from "./optional-members.ts";

/** How servers say that a model cannot be given tools: the model gateway of this service, Ollama, vLLM, llama.cpp, OpenRouter and others. */
const REFUSAL =
  /not shown the tools|(?:does|do|did) not support (?:the use of )?(?:tools?|function calling)\b|tools? (?:use |calling )?(?:is|are) not supported|no endpoints found that support tool use|tool choice requires --enable-auto-tool-choice|tools param requires --jinja/i;

/** Calls tools by JSON texts in requests to models whose servers refuse tools, or do not show them to the model. */
export function createHiddenTools(): OptionalMembers {
  const refusals = createRefusals((status, text) => status >= 400 && status < 500 && REFUSAL.test(text));
  const formats = createRefusals(isFormatRefusal);
  return {
    removes: true,
    add: (api, body) => (api === "chat" && refusals.has(body) ? writeJsonCalls(body, !formats.has(body)) : body),
    isRefused: (body, status, text) =>
      hasTools(body) && (refusals.add(body, status, text) || (refusals.has(body) && formats.add(body, status, text))),
    convert: (body, whole) => (refusals.has(body) && hasTools(body) ? readJsonCalls(whole) : whole),
  };
}
