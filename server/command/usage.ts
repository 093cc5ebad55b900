import { type ParseArgsOptionsConfig, parseArgs } from "node:util";

/** The command line cannot be understood; the message says why. */
export class UsageError extends Error {}

/** Parses options and, where `positionals` allows them, words. @throws UsageError */
export function parseFlags<T extends ParseArgsOptionsConfig>(args: readonly string[], options: T, positionals = 0) {
  const parsed = parse(args, { ...options, help: { type: "boolean", default: false, short: "h" } });
  const unexpected = parsed.positionals[positionals];
  if (unexpected !== undefined) throw new UsageError(`Unexpected argument "${unexpected}".`);
  return parsed;
}

function parse<T extends ParseArgsOptionsConfig>(args: readonly string[], options: T) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    // Node adds how to pass such a word as an argument, which no command takes.
    throw new UsageError(error instanceof Error ? error.message.replace(/\. To specify .*/, ".") : String(error));
  }
}

/** Parses the value of an option that takes a whole number from 1. @throws UsageError */
export function parseInteger(name: string, value: string | undefined, max: number): number | undefined {
  if (value === undefined) return undefined;
  const number = Number(value);
  if (Number.isInteger(number) && number >= 1 && number <= max) return number;
  throw new UsageError(`${name} takes a number from 1 to ${max}, not "${value}"`);
}
