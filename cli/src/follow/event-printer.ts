import { clip, type Style, seconds, stateText } from "../style.ts";
import { oneLine, printable } from "../terminal-text.ts";
import { type ApiEvent, type DisplayEvent, toDisplayEvents } from "./display-events.ts";

const INDENT = 13;
const WIDTH = 100;

export interface EventPrinterOptions {
  readonly style: Style;
  readonly print: (line: string) => void;
  /** Shows outputs whole instead of their first and last lines. */
  readonly verbose: boolean;
  /**
   * When time began, in milliseconds since the epoch.
   * @default the time of the first event
   */
  readonly since?: number;
}

/** Prints one event of a run after another, each with the time that had passed. */
export class EventPrinter {
  readonly #options: EventPrinterOptions;
  #since: number | undefined;

  constructor(options: EventPrinterOptions) {
    this.#options = options;
    this.#since = options.since;
  }

  print(event: ApiEvent): void {
    this.#since ??= Date.parse(event.occurred_at);
    for (const displayEvent of toDisplayEvents(event)) this.#print(displayEvent, this.#since);
  }

  #print(displayEvent: DisplayEvent, since: number): void {
    const { style, print } = this.#options;
    const [first = "", ...rest] = this.#lines(displayEvent);
    if (first === "") return;
    const passed = Math.max(0, Date.parse(displayEvent.at) - since);
    print(`  ${style.dim(seconds(passed).padStart(7))}  ${first}`);
    for (const line of rest) print(`${" ".repeat(INDENT)}${style.dim(line)}`);
  }

  /** A headline and further lines. */
  #lines(displayEvent: DisplayEvent): string[] {
    const { style } = this.#options;
    switch (displayEvent.kind) {
      case "step":
        return [this.#stepText(displayEvent)];
      case "command": {
        const [first = "", ...rest] = meaningful(displayEvent.text);
        if (this.#options.verbose) return [`${style.bold("$")} ${first}`, ...rest];
        const more = rest.length === 0 ? "" : ` ${style.dim(`… ${rest.length} more lines`)}`;
        return [`${style.bold("$")} ${clip(first, WIDTH)}${more}`];
      }
      case "result":
        return [
          (displayEvent.failed ? style.red : style.green)(oneLine(displayEvent.said)),
          ...this.#shown(displayEvent.output),
        ];
      case "text":
        return this.#shown(displayEvent.text);
    }
  }

  #stepText({ state, name, durationMs, detail, failed }: DisplayEvent & { kind: "step" }): string {
    const { style } = this.#options;
    const parts = [
      state === undefined ? "" : style.bold(stateText(style, oneLine(state))),
      oneLine(name ?? ""),
      durationMs === undefined ? "" : style.dim(seconds(durationMs)),
      detail === undefined ? "" : style.dim(clip(oneLine(detail), WIDTH)),
      failed && state === undefined ? style.red("failed") : "",
    ];
    return parts.filter((part) => part !== "").join("  ");
  }

  /** A text whole, or its first and last lines. */
  #shown(text: string): string[] {
    const lines = meaningful(text);
    if (this.#options.verbose) return lines;
    const clipped = lines.map((line) => clip(line, WIDTH));
    if (clipped.length <= 5) return clipped;
    return [...clipped.slice(0, 3), `… ${lines.length - 4} more lines`, ...clipped.slice(-1)];
  }
}

const meaningful = (text: string): string[] =>
  printable(text)
    .split("\n")
    .filter((line) => line.trim() !== "");
