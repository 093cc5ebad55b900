/** Reads a member of a payload by the names that lead to it; undefined where there is none. */
export function readMember(payload: unknown, ...names: readonly (string | number)[]): unknown {
  let value = payload;
  for (const name of names) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
    value = Reflect.get(value, name);
  }
  return value;
}

/** Reads a text or a number as text; "" where there is none. */
export function readText(payload: unknown, ...names: readonly (string | number)[]): string {
  const value = readMember(payload, ...names);
  return typeof value === "string" ? value : Number.isFinite(value) ? String(value) : "";
}

/** The first text that is not empty. */
export const firstText = (...texts: readonly string[]): string => texts.find((text) => text !== "") ?? "";
