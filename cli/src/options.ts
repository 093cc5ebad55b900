import { InvalidArgumentError } from "@commander-js/extra-typings";
import { RUN_SOURCES, SCOPES, type Scope } from "../../clients/typescript/src/index.ts";

/** A whole number within bounds. */
export const wholeNumber =
  (least: number, most: number) =>
  (text: string): number => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= least && value <= most) return value;
    throw new InvalidArgumentError(`Expected a whole number from ${least} to ${most}.`);
  };

/** Collects an option that may be given several times. */
export const repeated = (value: string, earlier: readonly string[] = []): string[] => [...earlier, value];

/** Collects `name=value`. */
export function pairs(text: string, earlier: Readonly<Record<string, string>> = {}): Record<string, string> {
  const at = text.indexOf("=");
  if (at < 1) throw new InvalidArgumentError("Expected name=value.");
  return { ...earlier, [text.slice(0, at)]: text.slice(at + 1) };
}

/** A number such as an amount of money. */
export function parseNumber(text: string): number {
  const number = Number(text);
  if (text.trim() === "" || !Number.isFinite(number)) throw new InvalidArgumentError("It must be a number.");
  return number;
}

export const SCOPE_TEXT =
  "what the key may be used for, such as runs:read; repeat it for several (default: all of yours)";

/** Collects scopes of a key. */
export function scopes(text: string, earlier: readonly Scope[] = []): Scope[] {
  const scope = SCOPES.find((one) => one === text);
  if (scope !== undefined) return [...earlier, scope];
  throw new InvalidArgumentError(`Allowed choices are ${SCOPES.join(", ")}.`);
}

/** The scopes of a key, for a table. Services from before there were scopes name none. */
export const listScopes = (held: readonly Scope[] | undefined): string =>
  held === undefined || held.length === SCOPES.length ? "all" : held.join(" ");

export const SOURCE_TEXT = "only runs from this source: API, CLI, SCHEDULED_AGENT, GITHUB_ACTION …";

/** A source of runs, in any case. The API accepts unknown ones, which no run has. */
export function runSource(text: string): string {
  const source = RUN_SOURCES.find((one) => one === text.toUpperCase());
  if (source !== undefined) return source;
  throw new InvalidArgumentError(`Allowed choices are ${RUN_SOURCES.join(", ")}.`);
}

/** A point in time: `2026-05-18`, `2026-05-18T19:00Z`, or an age: `90m`, `24h`, `7d`. */
export function time(text: string): string {
  const ago = /^(\d{1,6})([mhd])$/.exec(text);
  const unit = { m: 60_000, h: 3_600_000, d: 86_400_000 }[ago?.[2] ?? ""] ?? 0;
  const at = ago === null ? parseDate(text) : new Date(Date.now() - Number(ago[1]) * unit);
  if (at !== undefined) return at.toISOString();
  throw new InvalidArgumentError("Expected a date such as 2026-05-18T19:00Z, or an age such as 90m, 24h, 7d.");
}

/** A date to come: `2027-01-01`, `2027-01-01T12:00Z`. */
export function date(text: string): string {
  const at = parseDate(text);
  if (at !== undefined) return at.toISOString();
  throw new InvalidArgumentError("Expected a date such as 2027-01-01 or 2027-01-01T12:00Z.");
}

/** Parses a date of the calendar, in UTC unless it names a zone: `Date.parse` also reads `5` and February 30th. */
function parseDate(text: string): Date | undefined {
  const [, day, clock = "00:00", zone = "Z"] =
    /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)(Z|[+-]\d{2}:\d{2})?)?$/i.exec(text) ?? [];
  const midnight = Date.parse(`${day}T00:00Z`);
  if (Number.isNaN(midnight) || new Date(midnight).toISOString().slice(0, 10) !== day) return undefined;
  const at = Date.parse(`${day}T${clock}${zone.toUpperCase()}`);
  return Number.isNaN(at) ? undefined : new Date(at);
}
