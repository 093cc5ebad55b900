import * as v from "valibot";

const Members = v.record(v.string(), v.unknown());

/** A member of something unknown. */
export function memberOf(value: unknown, name: string): unknown {
  const parsed = v.safeParse(Members, value);
  return parsed.success && !Array.isArray(value) ? parsed.output[name] : undefined;
}

export function readText(value: unknown, name: string): string | undefined {
  const member = memberOf(value, name);
  return typeof member === "string" ? member : undefined;
}

export function readNumber(value: unknown, name: string): number | undefined {
  const member = memberOf(value, name);
  return typeof member === "number" ? member : undefined;
}
