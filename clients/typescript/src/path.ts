import { RunyardError } from "./errors.ts";

/**
 * Builds a path whose values are percent-encoded, each as one segment. An empty value, `.` and `..` throw: they would
 * address another operation.
 */
export function path(texts: TemplateStringsArray, ...values: readonly string[]): string {
  return texts.reduce((whole, text, index) => {
    const value = values[index - 1] ?? "";
    if (/^\.{0,2}$/.test(value)) throw new RunyardError(`${JSON.stringify(value)} cannot be an id`);
    return whole + encodeURIComponent(value) + text;
  });
}

/**
 * Encodes a query: arrays repeat their name, members of an object are in percent-encoded brackets, and undefined and
 * null are omitted.
 */
export function encodeQuery(query: object | undefined): string {
  const pairs: string[] = [];
  const add = (name: string, value: unknown): void => {
    if (value === undefined || value === null) return;
    if (Array.isArray(value)) for (const item of value) add(name, item);
    else if (value instanceof Date) add(name, value.toISOString());
    else if (typeof value === "object") for (const [key, inner] of Object.entries(value)) add(`${name}[${key}]`, inner);
    else pairs.push(`${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`);
  };
  for (const [name, value] of Object.entries(query ?? {})) add(name, value);
  return pairs.length === 0 ? "" : `?${pairs.join("&")}`;
}
