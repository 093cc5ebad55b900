import { clip } from "../style.ts";
import { oneLine } from "../terminal-text.ts";

const TICK_MS = 1000;

export interface StatusLineOptions {
  /** Writes to the terminal, as it is. */
  readonly out: (text: string) => void;
  readonly columns: number;
  readonly now?: () => number;
}

/** The last line of a terminal: how long the run has taken, and what it is at. It is not part of the output. */
export class StatusLine {
  readonly #options: StatusLineOptions;
  readonly #now: () => number;
  readonly #startedAt: number;
  /** Overwrites the line with spaces, without an escape sequence. */
  readonly #erase: string;
  #what = "";
  #whatSince: number;
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(options: StatusLineOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#erase = `\r${" ".repeat(Math.max(0, options.columns - 1))}\r`;
    this.#startedAt = this.#whatSince = this.#now();
  }

  start(): void {
    this.#timer ??= setInterval(() => this.#draw(), TICK_MS);
    this.#timer.unref();
    this.#draw();
  }

  /** Says what the run is at from now on. */
  show(what: string): void {
    this.#what = oneLine(what);
    this.#whatSince = this.#now();
    this.#draw();
  }

  /** Writes output above the line. */
  above(write: () => void): void {
    if (this.#timer !== undefined) this.#options.out(this.#erase);
    write();
    this.#draw();
  }

  stop(): void {
    if (this.#timer === undefined) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#options.out(this.#erase);
  }

  #draw(): void {
    if (this.#timer === undefined) return;
    const now = this.#now();
    const since = now - this.#whatSince;
    const what = this.#what === "" ? "" : ` · ${this.#what}${since < 2 * TICK_MS ? "" : ` (${elapsed(since)})`}`;
    this.#options.out(`${this.#erase}${clip(`  ${elapsed(now - this.#startedAt)}${what}`, this.#options.columns - 1)}`);
  }
}

/** A time in whole seconds, with minutes and hours where there are some. */
export function elapsed(milliseconds: number): string {
  const all = Math.floor(Math.max(0, milliseconds) / 1000);
  const [hours, minutes, rest] = [Math.floor(all / 3600), Math.floor((all % 3600) / 60), all % 60];
  if (hours > 0) return `${hours} h ${minutes} min`;
  return minutes > 0 ? `${minutes} min ${rest} s` : `${rest} s`;
}
