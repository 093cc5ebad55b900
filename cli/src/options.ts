import { InvalidArgumentError } from "@commander-js/extra-typings";

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

/** A point in time: `2026-05-18`, `2026-05-18T19:00Z`, or an age: `90m`, `24h`, `7d`. */
export function time(text: string): string {
  const ago = /^(\d+)([mhd])$/.exec(text);
  const unit = { m: 60_000, h: 3_600_000, d: 86_400_000 }[ago?.[2] ?? ""] ?? 0;
  const at = ago === null ? Date.parse(text) : Date.now() - Number(ago[1]) * unit;
  if (!Number.isNaN(at)) return new Date(at).toISOString();
  throw new InvalidArgumentError("Expected a date such as 2026-05-18T19:00Z, or an age such as 90m, 24h, 7d.");
}

/** A date to come: `2027-01-01`, `2027-01-01T12:00Z`. */
export function date(text: string): string {
  const at = Date.parse(text);
  if (!Number.isNaN(at)) return new Date(at).toISOString();
  throw new InvalidArgumentError("Expected a date such as 2027-01-01 or 2027-01-01T12:00Z.");
}
