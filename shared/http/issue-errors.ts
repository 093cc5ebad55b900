import type * as v from "valibot";
import type { FieldError } from "#shared/errors.ts";
import { pathOf } from "./unsupported-input.ts";

/**
 * The wrong fields that an issue is about. A union reports one issue for the whole value: where the value has the form of one of the
 * options, a list or a map, its wrong members are more use to the caller than the names of the forms.
 */
export function issueErrors(issue: v.BaseIssue<unknown>, from = ""): FieldError[] {
  const path = pathOf(issue, from);
  const members = issue.type === "union" ? (issue.issues ?? []).filter((inner) => isWithin(inner, issue.input)) : [];
  if (members.length === 0) return [{ path, message: issue.message }];
  return members.flatMap((inner) => issueErrors(inner, path));
}

/** Whether an issue of an option is about a member of the value, read as what the value is. */
function isWithin({ path }: v.BaseIssue<unknown>, value: unknown): boolean {
  const [first] = path ?? [];
  return first !== undefined && (first.type === "array") === Array.isArray(value);
}
