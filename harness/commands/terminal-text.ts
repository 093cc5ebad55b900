// biome-ignore-all lint/suspicious/noControlCharactersInRegex: this file reads control sequences.

/** Text as a terminal shows it in the end: later output replaces what a carriage return or a cursor movement went back to. */
export interface TerminalText {
  /** Adds output, and returns the text that can no longer change. */
  push(text: string): string;
  /** Returns the rest. */
  end(): string;
}

/** The lines that cursor movements reach. */
const ROWS = 50;
/** Movements to the right end here. */
const MAX_COLUMN = 400;
/** Longer lines are not overwritten, because each overwriting copies the line. */
const MAX_OVERWRITTEN = 1_024;

const TOKENS =
  /\x1b\[([0-?]*)[ -/]*([@-~])|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[ -/]*[0-Z\\`-~]|[\r\n\b]|\x1b|[^\x1b\r\n\b]+/g;
/** The beginning of a sequence that the next piece of text may complete. */
const INCOMPLETE = /\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b]{0,2048}\x1b?|[ -/]*)$/;

/** Colors have no width. */
const COLORS = /\x1b\[[0-9;:]*m/g;
const CURSOR_MOVEMENT = /[\x1b\r\b]/;

/** Creates a reader of terminal output. Sequences that neither move the cursor nor set a color are removed. */
export function createTerminalText(): TerminalText {
  const screen = new Screen();
  let pending = "";
  return {
    push(text) {
      const all = pending + text;
      pending = INCOMPLETE.exec(all)?.[0] ?? "";
      const whole = pending === "" ? all : all.slice(0, -pending.length);
      if (CURSOR_MOVEMENT.test(whole) || !screen.isAtEnd()) interpret(whole, screen);
      else screen.append(whole);
      return screen.take();
    },
    end() {
      pending = "";
      return screen.takeAll();
    },
  };
}

function interpret(text: string, screen: Screen): void {
  for (const [token, parameters = "", final] of text.matchAll(TOKENS)) {
    if (token === "\n") screen.startLine();
    else if (token === "\b") screen.moveBy(0, -1);
    else if (token === "\r") screen.returnToStart();
    else if (final !== undefined) control(token, Number.parseInt(parameters, 10) || 0, final, screen);
    else if (!token.startsWith("\x1b")) screen.write(token);
  }
}

/** Carries out a control sequence (ECMA-48). */
function control(token: string, number: number, final: string, screen: Screen): void {
  const count = Math.max(1, number);
  if (final === "A") screen.moveBy(-count, 0);
  else if (final === "B") screen.moveBy(count, 0);
  else if (final === "C") screen.moveBy(0, count);
  else if (final === "D") screen.moveBy(0, -count);
  else if (final === "E") screen.moveBy(count, Number.NEGATIVE_INFINITY);
  else if (final === "F") screen.moveBy(-count, Number.NEGATIVE_INFINITY);
  else if (final === "G") screen.moveTo(count - 1);
  else if (final === "K") screen.eraseInLine(number);
  else if (final === "J" && number === 0) screen.eraseBelow();
  else if (final === "J" || final === "H" || final === "f") screen.finish();
  else if (token.replace(COLORS, "") === "") screen.color(token);
}

/** The last lines of the output, with a cursor. */
class Screen {
  #rows = [""];
  #row = 0;
  #column = 0;
  /** What the cursor can no longer reach. */
  #done = "";

  get #line(): string {
    return this.#rows[this.#row] ?? "";
  }

  get #plainLine(): string {
    const line = this.#line;
    return line.includes("\x1b") ? line.replace(COLORS, "") : line;
  }

  isAtEnd(): boolean {
    return this.#row === this.#rows.length - 1 && this.#column === this.#plainLine.length;
  }

  /** Adds text without control characters at the end, which is most output. */
  append(text: string): void {
    const [first = "", ...lines] = text.split("\n");
    this.#rows[this.#row] = this.#line + first;
    this.#rows = this.#rows.concat(lines);
    const reachable = Math.max(0, this.#rows.length - ROWS);
    if (reachable > 0) this.#done += `${this.#rows.splice(0, reachable).join("\n")}\n`;
    this.#row = this.#rows.length - 1;
    this.#column = this.#plainLine.length;
  }

  write(text: string): void {
    const plain = this.#plainLine;
    // A line that is overwritten loses its colors, which would otherwise end up in wrong places.
    this.#rows[this.#row] =
      this.#column === plain.length
        ? this.#line + text
        : plain.slice(0, this.#column).padEnd(this.#column) + text + plain.slice(this.#column + text.length);
    this.#column += text.length;
  }

  color(sequence: string): void {
    if (this.#column === this.#plainLine.length) this.#rows[this.#row] = this.#line + sequence;
  }

  startLine(): void {
    this.#column = 0;
    if (++this.#row < this.#rows.length) return;
    this.#rows.push("");
    if (this.#rows.length <= ROWS) return;
    this.#done += `${this.#rows.shift()}\n`;
    this.#row--;
  }

  returnToStart(): void {
    if (this.#line.length > MAX_OVERWRITTEN) this.startLine();
    this.#column = 0;
  }

  moveBy(rows: number, columns: number): void {
    this.#row = Math.max(0, Math.min(this.#rows.length - 1, this.#row + rows));
    this.moveTo(this.#column + columns);
  }

  moveTo(column: number): void {
    // The cursor may be farther to the right in a long line already.
    this.#column = Math.max(0, Math.min(Math.max(MAX_COLUMN, this.#column), column));
  }

  eraseInLine(mode: number): void {
    const plain = this.#plainLine;
    if (mode === 0 && this.#column < plain.length) this.#rows[this.#row] = plain.slice(0, this.#column);
    if (mode === 1) this.#rows[this.#row] = plain.slice(this.#column).padStart(plain.length);
    if (mode === 2) this.#rows[this.#row] = "";
  }

  eraseBelow(): void {
    this.#rows.splice(this.#row + 1);
    this.eraseInLine(0);
  }

  /** Begins a new screen below. A program that clears the screen must not hide what was printed before. */
  finish(): void {
    const text = this.#rows.join("\n");
    this.#done += text === "" || text.endsWith("\n") ? text : `${text}\n`;
    this.#rows = [""];
    this.#row = 0;
    this.#column = 0;
  }

  take(): string {
    const text = this.#done;
    this.#done = "";
    return text;
  }

  takeAll(): string {
    const text = this.take() + this.#rows.join("\n");
    this.#rows = [""];
    return text;
  }
}
