/** One event of a `text/event-stream`. */
export interface ServerEvent {
  /** @default "message" */
  readonly name: string;
  readonly data: string;
}

/** Reads a `text/event-stream` piece by piece. */
export interface EventParser {
  /** Adds a piece and returns the events that are complete. */
  push(piece: string): ServerEvent[];
  /** The reconnection time that the server requests, in milliseconds. */
  retry(): number | undefined;
}

export function createEventParser(): EventParser {
  let rest = "";
  let name = "";
  let data: string[] = [];
  let retry: number | undefined;

  /** Reads one line. Returns the event that it completes. */
  const readLine = (line: string): ServerEvent[] => {
    if (line === "") {
      const event = { name: name || "message", data: data.join("\n") };
      const isEvent = data.length > 0;
      name = "";
      data = [];
      return isEvent ? [event] : [];
    }
    const colon = line.indexOf(":");
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "event") name = value;
    if (field === "data") data.push(value);
    if (field === "retry" && /^\d+$/.test(value)) retry = Number(value);
    return [];
  };

  return {
    push(piece) {
      // A carriage return at the end may be the first half of a line break.
      const text = rest + piece;
      const isCut = text.endsWith("\r");
      const lines = (isCut ? text.slice(0, -1) : text).split(/\r\n|\n|\r/);
      rest = (lines.pop() ?? "") + (isCut ? "\r" : "");
      return lines.flatMap(readLine);
    },
    retry: () => retry,
  };
}
