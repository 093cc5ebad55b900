import type { LiveFrame } from "../../../clients/typescript/src/index.ts";
import { clip, type Style, seconds, stateText } from "../style.ts";
import { oneLine, printable } from "../terminal-text.ts";
import { paintDiffLine } from "./diff-line.ts";
import { type ApiEvent, type DisplayAction, type DisplayEvent, toDisplayEvents } from "./display-events.ts";
import { LiveLines } from "./live-lines.ts";
import { RunClock } from "./run-clock.ts";

const INDENT = 13;
const WIDTH = 100;
/** Most frames that are kept for an action that has not been shown; older ones are dropped. */
const MAX_EARLY = 500;
/** The lines of a diff that are shown without --verbose. */
const DIFF_LINES = 24;

export interface EventPrinterOptions {
  readonly style: Style;
  readonly print: (line: string) => void;
  /** Shows inputs and outputs whole instead of their first and last lines. */
  readonly verbose: boolean;
  /**
   * When time began, in milliseconds since the epoch.
   * @default the time of the first event
   */
  readonly since?: number;
  /** Called after each event that was printed. */
  readonly onShown?: (event: DisplayEvent) => void;
}

type Step = DisplayEvent & { readonly kind: "step" };
type Result = DisplayEvent & { readonly kind: "result" };

interface Lines {
  /** What precedes the headline: the output of a command, whose end the headline is. */
  readonly above?: readonly string[];
  readonly headline: string;
  readonly below: readonly string[];
}

/** The text of the service's own event of a run that waits. */
export const waitText = (position: number): string => `waiting for capacity, position ${position} in the queue`;

/** Prints one event of a run after another, each with the time that had passed. */
export class EventPrinter {
  readonly #options: EventPrinterOptions;
  readonly #clock: RunClock;
  #lastText = "";
  #isLastTextWhole = false;
  #waiting: string | undefined;
  readonly #live = new LiveLines();
  /** The headline of each action that was shown; undefined once it has ended. */
  readonly #headlines = new Map<string, string | undefined>();
  /** Live output that was received before its action. */
  readonly #early = new Map<string, LiveFrame[]>();
  /** The action that the last line belongs to. */
  #current: string | undefined;

  constructor(options: EventPrinterOptions) {
    this.#options = options;
    this.#clock = new RunClock(options.since);
  }

  print(event: ApiEvent): void {
    // The time begins with the service's clock.
    this.#clock.passedAt(event.type === "messages" ? "" : event.occurred_at);
    for (const displayEvent of toDisplayEvents(event)) {
      this.#print(displayEvent);
      this.#options.onShown?.(displayEvent);
    }
  }

  /** Whether this text was printed last, and whole. */
  hasPrinted(text: string): boolean {
    return this.#isLastTextWhole && flatten(text) === this.#lastText;
  }

  /**
   * Prints the lines of output that is still being produced, below its action. The event with the whole output adds what
   * is missing.
   */
  printLive(frame: LiveFrame): void {
    const { action_id: id } = frame;
    if (id === undefined || this.#headlines.get(id) !== undefined) this.#printFrame(frame);
    else if (!this.#headlines.has(id)) this.#early.set(id, [...(this.#early.get(id) ?? []), frame].slice(-MAX_EARLY));
  }

  #printFrame(frame: LiveFrame): void {
    const { style, print, verbose } = this.#options;
    this.#returnTo(frame.action_id);
    for (const line of this.#live.take(frame)) {
      const [shown = ""] = verbose ? [printable(line)] : meaningful(line).map((text) => clip(text, WIDTH));
      if (shown !== "" || verbose) print(`${" ".repeat(INDENT)}${frame.stream === "text" ? shown : style.dim(shown)}`);
    }
  }

  /** Prints the position of a waiting run in the queue, unless its last event has it. */
  printWaiting(position: number): void {
    const text = waitText(position);
    if (text !== this.#waiting) this.#options.print(`${" ".repeat(INDENT)}${text}`);
    this.#waiting = text;
  }

  #print(displayEvent: DisplayEvent): void {
    if (displayEvent.kind === "step" && displayEvent.type === "run_waiting") this.#waiting = displayEvent.detail;
    const { style, print } = this.#options;
    const wasLive = displayEvent.kind === "text" && this.#live.has(displayEvent.id);
    const { above = [], headline, below } = this.#lines(displayEvent);
    if (displayEvent.kind === "text") {
      this.#lastText = flatten(displayEvent.text);
      this.#isLastTextWhole =
        wasLive || flatten([headline, ...below].join(" ")) === flatten(printable(displayEvent.text));
    }
    if (headline === "") return;
    if (displayEvent.kind === "result" && displayEvent.showsOutput) this.#returnTo(displayEvent.id);
    const printIndented = (line: string) => print(line === "" ? "" : `${" ".repeat(INDENT)}${line}`);
    above.forEach(printIndented);
    const passed = this.#clock.passedAt(displayEvent.at);
    print(`  ${style.dim(seconds(passed).padStart(7))}  ${headline}`);
    below.forEach(printIndented);
    this.#current = undefined;
    if (displayEvent.kind === "action") this.#begin(displayEvent.id, headline);
    if (displayEvent.kind === "result") this.#end(displayEvent.id);
    if (displayEvent.kind !== "step" || displayEvent.actionId === undefined) return;
    if (displayEvent.type === "setup_started") this.#begin(displayEvent.actionId, headline);
    else this.#end(displayEvent.actionId);
  }

  /** Prints the output of an action that was received before the action. */
  #begin(id: string, headline: string): void {
    this.#current = id;
    this.#headlines.set(id, headline);
    const early = this.#early.get(id) ?? [];
    this.#early.delete(id);
    for (const frame of early) this.#printFrame(frame);
  }

  /** The result has all output: what comes later is ignored. */
  #end(id: string): void {
    this.#headlines.set(id, undefined);
    this.#early.delete(id);
  }

  /** Repeats the headline of an action whose output goes on after something else was printed. */
  #returnTo(id: string | undefined): void {
    const headline = id === undefined ? undefined : this.#headlines.get(id);
    if (headline !== undefined && this.#current !== id) this.#options.print(`${" ".repeat(INDENT)}${headline}`);
    this.#current = id;
  }

  #lines(displayEvent: DisplayEvent): Lines {
    switch (displayEvent.kind) {
      case "step":
        return this.#stepLines(displayEvent);
      case "action":
        return toLines(this.#actionLines(displayEvent));
      case "result":
        return this.#resultLines(displayEvent);
      case "text":
        return toLines(
          this.#shown((this.#live.finish(displayEvent.id, displayEvent.text) ?? displayEvent.text).trim()),
        );
    }
  }

  #actionLines({ title, input, isCommand }: DisplayAction): string[] {
    const { style, verbose } = this.#options;
    const mark = style.bold(isCommand ? "$" : "•");
    if (!isCommand) return [`${mark} ${clip(oneLine(title), WIDTH)}`, ...(verbose ? this.#dimmed(input) : [])];
    const [first = "", ...rest] = verbose ? whole(input) : meaningful(input);
    if (verbose) return [`${mark} ${first}`, ...rest.map(style.dim)];
    const more = rest.length === 0 ? "" : ` ${style.dim(`… ${rest.length} more lines`)}`;
    return [`${mark} ${clip(oneLine(title) || first, WIDTH)}${more}`];
  }

  #resultLines({ id, action, title, summary, failed, diff, showsOutput, ...result }: Result): Lines {
    const { style, verbose } = this.#options;
    const output = this.#live.finish(id, result.output) ?? result.output;
    const outcome = (failed ? style.red : style.green)(
      clip(oneLine(summary), verbose ? Number.MAX_SAFE_INTEGER : 2 * WIDTH),
    );
    const details = [
      ...(diff === undefined ? [] : this.#diffLines(diff)),
      ...(showsOutput || verbose ? this.#dimmed(output) : []),
    ];
    if (action === undefined) {
      const name = title === undefined || showsOutput ? "" : `${style.dim(clip(oneLine(title), WIDTH))}  `;
      const headline = `${name}${outcome}`;
      return showsOutput ? { above: details, headline, below: [] } : { headline, below: details };
    }
    const { headline, below } = toLines(this.#actionLines(action));
    if (action.isCommand) return { headline, below: [...below, ...details, outcome] };
    return { headline: `${headline}  ${outcome}`, below: [...below, ...details] };
  }

  #diffLines(diff: string): string[] {
    const { style, verbose } = this.#options;
    const lines = verbose ? whole(diff) : shortenHeaders(whole(diff));
    const visibleLines = verbose ? lines : lines.slice(0, DIFF_LINES).map((line) => clip(line, WIDTH));
    const hiddenCount = lines.length - visibleLines.length;
    return [
      ...visibleLines.map((line) => paintDiffLine(line, style)),
      ...(hiddenCount > 0 ? [style.dim(`… ${hiddenCount} more lines`)] : []),
    ];
  }

  /** A failed part of the setup ends with the last lines of its output, which say why. */
  #stepLines(step: Step): Lines {
    if (step.output !== undefined) return this.#commandLines(step, step.output);
    const [detail, ...output] = step.failed && step.state === undefined ? meaningful(step.detail ?? "") : [];
    if (detail === undefined || output.length === 0) return { headline: this.#stepText(step), below: [] };
    return { headline: this.#stepText({ ...step, detail }), below: this.#dimmed(output.join("\n")) };
  }

  /** A setup command: what it printed is above if some of it was shown while the command ran. */
  #commandLines(step: Step, output: string): Lines {
    const [detail = ""] = (step.detail ?? "").split("\n");
    const headline = this.#stepText({ ...step, detail: step.failed ? detail.replace(/:$/, "") : detail });
    const rest = this.#live.finish(step.actionId, output);
    return rest === undefined
      ? { headline, below: this.#dimmed(output) }
      : { above: this.#dimmed(rest), headline, below: [] };
  }

  #stepText({ state, name, durationMs, detail: given, failed }: Step): string {
    const { style, verbose } = this.#options;
    // The message of an ended run begins as the agent's final message does.
    const isSaid = state !== undefined && given !== undefined && this.#lastText.startsWith(flatten(given));
    const detail = isSaid ? undefined : given;
    const parts = [
      state === undefined ? "" : style.bold(stateText(style, oneLine(state))),
      oneLine(name ?? ""),
      failed && state === undefined ? style.red("failed") : "",
      detail === undefined ? "" : style.dim(clip(oneLine(detail), verbose ? Number.MAX_SAFE_INTEGER : 2 * WIDTH)),
      durationMs === undefined ? "" : style.dim(seconds(durationMs)),
    ];
    return parts.filter((part) => part !== "").join("  ");
  }

  #dimmed(text: string): string[] {
    return this.#shown(text).map(this.#options.style.dim);
  }

  /** A text whole, or its first and last lines. */
  #shown(text: string): string[] {
    if (this.#options.verbose) return whole(text);
    const lines = meaningful(text);
    const clipped = lines.map((line) => clip(line, WIDTH));
    if (clipped.length <= 5) return clipped;
    return [...clipped.slice(0, 3), `… ${lines.length - 4} more lines`, ...clipped.slice(-1)];
  }
}

const toLines = ([headline = "", ...below]: readonly string[]): Lines => ({ headline, below });

/** Names each file in one line instead of two. The title of the action names the only one. */
function shortenHeaders(lines: readonly string[]): string[] {
  const isHeader = (index: number) => /^--- /.test(lines[index] ?? "") && /^\+\+\+ /.test(lines[index + 1] ?? "");
  const hasSeveral = lines.filter((_, index) => isHeader(index)).length > 1;
  return lines.flatMap((line, index) => {
    if (isHeader(index - 1)) return [];
    if (!isHeader(index)) return [line];
    const name = [lines[index + 1], line].find((header) => header !== undefined && !header.endsWith("/dev/null")) ?? "";
    return hasSeveral ? [name.replace(/^(?:---|\+\+\+) (?:[ab]\/)?/, "")] : [];
  });
}

/** All lines, blank ones too. */
function whole(text: string): string[] {
  const lines = printable(text).split("\n");
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
}

const flatten = (text: string): string => text.replace(/\s+/g, " ").trim();

const meaningful = (text: string): string[] =>
  printable(text)
    .split("\n")
    .filter((line) => line.trim() !== "");
