import type { Shell } from "./shell.ts";

/** How words stand out on a terminal. */
export interface Style {
  readonly bold: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly green: (text: string) => string;
  readonly red: (text: string) => string;
  readonly yellow: (text: string) => string;
}

/** Colours on a terminal, none in a pipe or file. NO_COLOR (https://no-color.org) and FORCE_COLOR take precedence. */
export function styleFor(env: Shell["env"], isTerminal: boolean): Style {
  const isSet = (name: string): boolean => (env[name] ?? "") !== "";
  const colored = !isSet("NO_COLOR") && (isSet("FORCE_COLOR") || (isTerminal && env["TERM"] !== "dumb"));
  const paint = (code: number) => (text: string) => (colored && text !== "" ? `\u001b[${code}m${text}\u001b[0m` : text);
  return { bold: paint(1), dim: paint(2), green: paint(32), red: paint(31), yellow: paint(33) };
}

/** A run's state in its colour. */
export function stateText(style: Style, state: string): string {
  if (state === "SUCCEEDED") return style.green(state);
  if (state === "FAILED" || state === "ERROR") return style.red(state);
  return state === "BLOCKED" || state === "CANCELLED" ? style.yellow(state) : state;
}

export const clip = (text: string, width: number): string =>
  text.length > width ? `${text.slice(0, Math.max(0, width - 1))}…` : text;

/** Shortens an ISO 8601 duration for people: `PT1M2.5S` to `1m2.5s`. */
export const durationText = (duration: string): string => duration.replace(/^PT/, "").toLowerCase();

export const seconds = (milliseconds: number): string => `${(milliseconds / 1000).toFixed(1)} s`;
