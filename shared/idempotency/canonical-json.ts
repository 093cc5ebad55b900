import { sortByText } from "#shared/arrays.ts";

/** JSON with the members of every object in one order, so that equal values have equal texts. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, entry: unknown) =>
    typeof entry === "object" && entry !== null && !Array.isArray(entry)
      ? Object.fromEntries(sortByText(Object.entries(entry), ([name]) => name))
      : entry,
  );
}
