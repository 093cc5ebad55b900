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
      if (raw.trim() !== "") yield { raw, data: parseData(raw) };
    }
    if (done) break;
    if (rest.length > EVENT_LENGTH) throw new Error("an event of the stream is too long");
  }
  // Some servers omit the empty line after the last event. A truncated event is not valid.
  const data = parseData(rest);
  if (data === "[DONE]" || parsedJson(data) !== undefined) yield { raw: rest.trimEnd(), data };
}

const parseData = (raw: string): string =>
  raw
    .split(/\r?\n/)
    .filter((line) => line.startsWith("data:"))
    .map((line) => line.slice("data:".length).trim())
    .join("\n");
