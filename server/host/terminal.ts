import { terminalLine, terminalText } from "../../cli/src/terminal-text.ts";

const color = process.stdout.isTTY === true && process.env["NO_COLOR"] === undefined;

const paint = (code: number, text: string): string => (color ? `\u001b[${code}m${text}\u001b[0m` : text);

export const bold = (text: string): string => paint(1, text);
export const dim = (text: string): string => paint(2, text);
export const green = (text: string): string => paint(32, text);
export const red = (text: string): string => paint(31, text);
export const yellow = (text: string): string => paint(33, text);

/** All of these together, for the code that prints a run. */
export const style = { bold, dim, green, red, yellow };

export const seconds = (milliseconds: number): string => `${(milliseconds / 1000).toFixed(1)} s`;

/** Text of ours or of a run, on standard output. */
export const say = (text = ""): void => console.log(terminalText(text));

/** What went wrong, on standard error. */
export const complain = (text: string): void => console.error(terminalText(text));

/** An error that the user can fix: printed without a stack trace. */
export class Problem extends Error {
  /** Lines that help to find the cause, such as the end of a log. */
  readonly details: string[];

  constructor(message: string, details: string[] = []) {
    super(message);
    this.details = details;
  }
}

/** Runs one step of the start and prints a line with its result and its duration. */
export async function step<T>(name: string, work: (note: (text: string) => void) => Promise<T>): Promise<T> {
  const began = performance.now();
  let remark = "";
  try {
    const result = await work((text) => {
      remark = text;
    });
    say(line(green("✓"), name, performance.now() - began, remark));
    return result;
  } catch (error) {
    say(line(red("✗"), name, performance.now() - began, ""));
    throw error;
  }
}

export function warn(text: string): void {
  say(`${yellow("!")} ${text}`);
}

function line(mark: string, name: string, milliseconds: number, remark: string): string {
  return `${mark} ${name.padEnd(16)} ${seconds(milliseconds).padStart(7)}  ${dim(terminalLine(remark))}`.trimEnd();
}
