import { parsedJson } from "./dialect.ts";

/** An event of an event stream: its text and its data. */
export interface StreamEvent {
  /** Without the empty line at its end. */
  readonly raw: string;
  /** Its `data` lines, joined; empty if it has none. */
  readonly data: string;
}

/** Maximum characters of one event; beyond, the stream is not an event stream. */
const EVENT_LENGTH = 16 * 1024 * 1024;

/** Reads the events of a stream one by one. Throws if it is interrupted or is no event stream. */
export async function* streamEvents(
  read: () => Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>,
): AsyncGenerator<StreamEvent, void, undefined> {
  const decoder = new TextDecoder();
  let rest = "";
  for (;;) {
    const { done, value } = await read();
    rest += done ? decoder.decode() : decoder.decode(value, { stream: true });
    for (;;) {
      const end = /\r?\n\r?\n/.exec(rest);
      if (end === null) break;
      const raw = rest.slice(0, end.index);
      rest = rest.slice(end.index + end[0].length);
      if (raw.trim() !== "") yield* splitEvent(raw);
    }
    if (done) break;
    if (rest.length > EVENT_LENGTH) throw new Error("an event of the stream is too long");
  }
  // Some servers omit the empty line after the last event. A truncated event is not valid.
  for (const event of splitEvent(rest.trimEnd()))
    if (event.data === "[DONE]" || parsedJson(event.data) !== undefined) yield event;
}

/** Some servers end their events without an empty line, so that several are one: then each line is complete. */
function splitEvent(raw: string): StreamEvent[] {
  const lines = listData(raw);
  const isWhole = (data: string) => data === "[DONE]" || parsedJson(data) !== undefined;
  const data = lines.join("\n");
  if (lines.length < 2 || isWhole(data) || !lines.every(isWhole)) return [{ raw, data }];
  return lines.map((line) => ({ raw: `data: ${line}`, data: line }));
}

const listData = (raw: string): string[] =>
  raw
    .split(/\r?\n/)
    .filter((line) => line.startsWith("data:"))
    .map((line) => line.slice("data:".length).trim());
