import * as v from "valibot";
import { parseJson } from "../../support/parse-json.ts";

/** The texts of a model's response in the events of its API: Messages, Chat Completions and Responses. */
const Delta = v.union([
  v.pipe(
    v.object({
      type: v.literal("content_block_delta"),
      delta: v.object({ type: v.literal("text_delta"), text: v.string() }),
    }),
    v.transform(({ delta }) => delta.text),
  ),
  v.pipe(
    v.object({ type: v.literal("response.output_text.delta"), delta: v.string() }),
    v.transform(({ delta }) => delta),
  ),
  v.pipe(
    v.object({ choices: v.tupleWithRest([v.object({ delta: v.object({ content: v.string() }) })], v.unknown()) }),
    v.transform(({ choices: [{ delta }] }) => delta.content),
  ),
]);

/** The longest event that is read; others have no text that is worth showing. */
const MAX_EVENT = 256 * 1024;

/**
 * Reads the text of a streamed response while it arrives.
 * @param onText called with each piece of the text
 * @returns the function to call with each piece of the response's body
 */
export function createTextReader(onText: (text: string) => void): (piece: string) => void {
  let line = "";
  return (piece) => {
    const lines = (line + piece).split(/\r?\n/);
    line = lines.pop() ?? "";
    if (line.length > MAX_EVENT) line = "";
    for (const data of lines) {
      const text = data.startsWith("data:") ? parseText(data.slice("data:".length)) : "";
      if (text !== "") onText(text);
    }
  };
}

function parseText(data: string): string {
  const parsed = v.safeParse(Delta, parseJson(data));
  return parsed.success ? parsed.output : "";
}
