import type * as v from "valibot";

/** The types of valibot in the words of JSON. */
const TYPES: Readonly<Record<string, string>> = {
  Array: "must be a list",
  boolean: "must be true or false",
  null: "must be null",
  number: "must be a number",
  Object: "must be an object",
  string: "must be a string",
};

/** What the requirement of a length counts, by the kind of the check. */
const UNITS: Readonly<Record<string, string>> = { length: "items", entries: "keys" };

/** The message about a member that an object refuses. */
export const UNKNOWN_MEMBER = "is not a known member";

/**
 * The message of an issue: what the value must be, without the value itself, which may be a secret. The schemas of shared/wire have
 * messages of their own; this one replaces the messages that valibot generates.
 */
export function formatIssue(issue: v.BaseIssue<unknown>): string {
  const { message, expected, received, type, kind } = issue;
  if (!message.startsWith("Invalid ")) return message;
  if (message.startsWith("Invalid key: ")) return expected === "never" ? UNKNOWN_MEMBER : "is required";
  if (kind === "validation") return formatRequirement(issue) ?? message;
  if (expected === null) return message;
  if (type === "picklist" || expected.startsWith("(")) {
    return `${received === "undefined" ? "is required and " : ""}must be ${formatAlternatives(expected)}`;
  }
  return TYPES[expected] ?? `must be ${expected}`;
}

function formatRequirement({ type, input, requirement }: v.BaseIssue<unknown>): string | undefined {
  if (type === "integer" || type === "safe_integer") return "must be a whole number";
  const [, bound, measure = ""] = /^(min|max)_(value|length|entries)$/.exec(type) ?? [];
  if (bound === undefined) return undefined;
  const limit = `${bound === "min" ? "at least" : "at most"} ${String(requirement)}`;
  if (measure === "value") return `must be ${limit}`;
  return `must have ${limit} ${typeof input === "string" ? "characters" : UNITS[measure]}`;
}

/** `("a" | "b" | null)` becomes `"a", "b" or null`. */
function formatAlternatives(expected: string): string {
  const names = expected.replace(/^\((.*)\)$/, "$1").split(" | ");
  return names.length === 1 ? names.join() : `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
}
