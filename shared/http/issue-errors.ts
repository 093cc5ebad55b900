import type * as v from "valibot";
import type { FieldError } from "#shared/errors.ts";
import { pathOf } from "./unsupported-input.ts";

/**
 * Lists the invalid fields of an issue. A union reports one issue for the whole value: where the value has the type of one of the
 * options, a list or a map, its invalid members are more useful to the caller than the names of the types.
 */
export function issueErrors(issue: v.BaseIssue<unknown>, from = ""): FieldError[] {
  const path = pathOf(issue, from);
  const members = issue.type === "union" ? (issue.issues ?? []).filter((inner) => isWithin(inner, issue.input)) : [];
  if (members.length === 0) return [{ path, message: issue.message }];
  return members.flatMap((inner) => issueErrors(inner, path));
}

/** True where an issue of an option is about a member of the value, and the option has the type of the value. */
function isWithin({ path }: v.BaseIssue<unknown>, value: unknown): boolean {
  const [first] = path ?? [];
  return first !== undefined && (first.type === "array") === Array.isArray(value);
}
