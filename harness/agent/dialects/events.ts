/** An unusable response to a model call, which may be retried. */
export class BrokenResponse extends Error {
  constructor(message: string) {
    super(message);
    this.name = "BrokenAnswer";
  }
}

/** A failure that the provider reports within a stream. */
export class FailedResponse extends Error {
  /** The API's name for the kind of failure, such as `overloaded_error`. */
  readonly kind: string;

  constructor(kind: string, message: string) {
    super(message);
    this.name = "FailedAnswer";
    this.kind = kind;
  }
}

/**
 * Parses the data of the events of a stream (`text/event-stream`), without its end marker.
 * @throws BrokenResponse when an event is not JSON
 */
export function parseEvents(text: string): unknown[] {
  const events = text.replaceAll("\r\n", "\n").split("\n\n").map(readData);
  return events.filter((data) => data !== "" && data !== "[DONE]").map(parseJson);
}

/** Formats events as a stream. */
export function formatEvents(events: readonly object[]): string {
  const named = (event: object) => ("type" in event ? `event: ${String(event.type)}\n` : "");
  return [...events.map((event) => `${named(event)}data: ${JSON.stringify(event)}\n\n`), "data: [DONE]\n\n"].join("");
}

function readData(event: string): string {
  const lines = event.split("\n").filter((line) => line.startsWith("data:"));
  return lines
    .map((line) => line.slice("data:".length).replace(/^ /, ""))
    .join("\n")
    .trim();
}

function parseJson(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    throw new BrokenResponse("an event of the response is not JSON");
  }
}
