import type * as v from "valibot";
import type { FieldError } from "#shared/errors.ts";
import { formatIssue } from "./issue-messages.ts";
import { formatPath } from "./unsupported-input.ts";

/**
 * The invalid fields of an issue. A union reports one issue for the whole value: if the value has the shape of one of the options, a
 * list or a map, its invalid members are more useful to the caller than the names of the shapes.
 */
export function issueErrors(issue: v.BaseIssue<unknown>, from = ""): FieldError[] {
  const path = formatPath(issue, from);
  const members = issue.type === "union" ? (issue.issues ?? []).filter((inner) => isWithin(inner, issue.input)) : [];
  if (members.length === 0) return [{ path, message: formatIssue(issue) }];
  return members.flatMap((inner) => issueErrors(inner, path));
}

/** Whether an issue of an option is about a member of the value, as a list or as a map. */
function isWithin({ path }: v.BaseIssue<unknown>, value: unknown): boolean {
  const [first] = path ?? [];
  return first !== undefined && (first.type === "array") === Array.isArray(value);
}
