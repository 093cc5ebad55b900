import type { Check } from "../doctor/check.ts";
import { bold, green, red, say, yellow } from "../host/terminal.ts";

const MARKS = { ok: green("✓"), warning: yellow("!"), failed: red("✗") };

/** Prints a check, and what to do about it. */
export function printCheck({ name, status, detail, remedy }: Check): void {
  say(`${MARKS[status]} ${bold(name.padEnd(16))} ${detail}`);
  if (remedy !== undefined) say(`  ${" ".repeat(16)} ${remedy}`);
}
