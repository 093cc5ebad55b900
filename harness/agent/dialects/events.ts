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

  /** Whether a retry would fail again. */
  get isPermanent(): boolean {
    return PERMANENT_KINDS.test(this.kind);
  }
}

const PERMANENT_KINDS = /invalid_request|authentication|permission|not_found|context_length|content_policy/;

/** A response as the agent's SDK gets it. */
export interface ReplayedResponse {
  /** The events of a stream. */
  readonly events: readonly object[];
  /** The model's reasoning, if the provider shows it. */
  readonly reasoning: string;
  /** What the provider returned together with tool calls, to be sent back as it came; by the ids of the calls. */
  readonly carried: { readonly ids: readonly string[]; readonly value: readonly unknown[] } | undefined;
}

/** Looks up what the provider returned with the tool call of this id; undefined if nothing is known. */
export type CarriedResponse = (id: unknown) => readonly unknown[] | undefined;

/**
 * Parses the data of the events of a stream (`text/event-stream`), without its end marker.
 * @throws BrokenResponse when an event is not JSON
 */
export function parseEvents(text: string): unknown[] {
  const events = text.replaceAll(/\r\n?/g, "\n").split(/\n\n+/).map(readData);
  // Some servers send their keep-alive comments as data.
  return events.filter((data) => data !== "" && data !== END_MARKER && !data.startsWith(":")).flatMap(parseData);
}

const END_MARKER = "[DONE]";

/** Whether a stream has the marker that some APIs send at its end. */
export const hasEndMarker = (text: string): boolean => /^data: ?\[DONE\]\s*$/m.test(text.slice(-1_000));

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

/** Some servers end their events without an empty line, so that several are one: then each line is complete. */
function parseData(data: string): unknown[] {
  const whole = tryParse([data]);
  if (whole !== undefined) return whole;
  const lines = tryParse(data.split("\n").filter((line) => line !== END_MARKER));
  if (lines === undefined) throw new BrokenResponse("an event of the response is not JSON");
  return lines;
}

function tryParse(texts: readonly string[]): unknown[] | undefined {
  try {
    return texts.map((text): unknown => JSON.parse(text));
  } catch {
    return undefined;
  }
}
