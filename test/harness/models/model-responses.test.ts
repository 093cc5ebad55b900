import { describe, expect, it } from "vitest";
import { assembleCompletion } from "#harness/agent/dialects/chat.ts";
import { BrokenResponse, FailedResponse, formatEvents, parseEvents } from "#harness/agent/dialects/events.ts";
import { assembleMessage } from "#harness/agent/dialects/messages.ts";
import { assembleResponse } from "#harness/agent/dialects/responses.ts";
import { createTextReader } from "#harness/agent/dialects/text-deltas.ts";
import { findInputFault, parseToolInput } from "#harness/agent/dialects/tool-input.ts";

describe("the events of a stream", () => {
  it("may be a whole response that the gateway has kept the stream open for", () => {
    const message = { type: "message", content: [{ type: "text", text: "Done." }], stop_reason: "end_turn", usage: {} };
    expect(assembleMessage([message])).toEqual(message);
    const response = { object: "response", status: "completed", output: [] };
    expect(assembleResponse([response])).toEqual(response);
    const completion = { choices: [{ message: { role: "assistant", content: "Done." }, finish_reason: "stop" }] };
    expect(assembleCompletion([completion])).toMatchObject(completion);
  });

  it("are the data of each event, without the end marker, comments and other fields", () => {
    const text =
      'event: a\r\ndata: {"a":1}\r\n\r\n: ping\n\ndata:{"b":\ndata: 2}\nid: 7\n\ndata: [DONE]\n\ndata: "x" \n\n';
    expect(parseEvents(text)).toEqual([{ a: 1 }, { b: 2 }, "x"]);
    expect(parseEvents("")).toEqual([]);
    expect(() => parseEvents('data: {"a"')).toThrow(new BrokenResponse("an event of the response is not JSON"));
    expect(parseEvents('data:{"a":\ndata:2}\n\ndata: {}\ndata: {"b":1}\ndata: [DONE]')).toEqual([
      { a: 2 },
      {},
      { b: 1 },
    ]);
    expect(() => parseEvents('data: {}\ndata: {"a"')).toThrow(BrokenResponse);
    expect([new BrokenResponse("x").name, new FailedResponse("kind", "x").name]).toEqual([
      "BrokenAnswer",
      "FailedAnswer",
    ]);
  });

  it("are formatted with their types, and an end marker", () => {
    expect(formatEvents([{ type: "ping", a: 1 }, { b: 2 }])).toBe(
      'event: ping\ndata: {"type":"ping","a":1}\n\ndata: {"b":2}\n\ndata: [DONE]\n\n',
    );
  });
});

describe("createTextReader", () => {
  it("returns the texts of each API as soon as their lines are complete", () => {
    const texts: string[] = [];
    const read = createTextReader((text) => void texts.push(text));
    const line = (event: unknown) => `data: ${JSON.stringify(event)}\n`;
    read(line({ type: "content_block_delta", delta: { type: "text_delta", text: "a" } }));
    read(line({ type: "content_block_delta", delta: { type: "thinking_delta", thinking: "no", text: "no" } }));
    read(line({ type: "response.output_text.delta", delta: "b" }).replace("\n", "\r\n"));
    read(line({ type: "response.reasoning.delta", delta: "no" }));
    read(
      line({ choices: [{ delta: { content: "c" } }, 1] }) + line({ choices: [] }) + line({ choices: [{ delta: {} }] }),
    );
    expect(texts.splice(0)).toEqual(["a", "b", "c"]);
    const last = line({ choices: [{ delta: { content: "d" } }] });
    for (const character of last.slice(0, -1)) read(character);
    expect(texts).toEqual([]);
    read("\n");
    expect(texts.splice(0)).toEqual(["d"]);
    read(`id: 1\n${last.replace("data:", "note:")}data: {broken\n${line({ choices: [{ delta: { content: "" } }] })}`);
    expect(texts).toEqual([]);
  });

  it("omits events of more than 256 KiB", () => {
    const texts: string[] = [];
    const event = `data: ${JSON.stringify({ type: "response.output_text.delta", delta: "a" })}`;
    for (const length of [256 * 1024, 256 * 1024 + 1]) {
      const read = createTextReader((text) => void texts.push(text));
      read(event.padEnd(length));
      read("\n");
      read(`${event}\n`);
    }
    expect(texts).toEqual(["a", "a", "a"]);
  });
});

describe("the input of a tool call", () => {
  it.each([
    ['{"a": 1}', { a: 1 }],
    [{ a: 1 }, { a: 1 }],
    [" ", {}],
    ["", {}],
  ])("is an object, or becomes one: %j", (sent, input) => {
    expect(parseToolInput(sent)).toEqual(input);
    expect(findInputFault(parseToolInput(sent))).toBeUndefined();
  });

  it.each([
    ["[1]", "[1]"],
    ["null", "null"],
    ["{broken", "{broken"],
    ["1", "1"],
    [[1], "[1]"],
    [null, "null"],
    [undefined, "null"],
    [7, "7"],
    [`"${"x".repeat(400)}`, `"${"x".repeat(299)}`],
  ])("is refused if it is not an object: %j", (sent, shown) => {
    expect(findInputFault(parseToolInput(sent))).toBe(
      `the input of this call is not a JSON object, so nothing was done; it starts with: ${shown}`,
    );
  });

  it.each([[null], [undefined], ["runyard_not_json"], [{}], [{ "": 1 }]])("has no fault if it is %j", (input) => {
    expect(findInputFault(input)).toBeUndefined();
  });
});
