import { RunyardError } from "#shared/errors.ts";

/**
 * Names of members that clients send and this version does not carry out, and what to do instead. A name with dots is that of a member
 * of a member.
 */
export type UnsupportedMembers = Readonly<Record<string, string | UnsupportedValues>>;

/** A member with values that this version carries out. */
interface UnsupportedValues {
  readonly supported: (value: unknown) => boolean;
  readonly remedy: string;
}

/**
 * Refuses members that this version knows and does not carry out, unless they are empty: to ignore them would be to do something
 * else than what was asked for.
 * @param sent an object of the body as it was sent
 * @param at its path in the body
 * @param subject what does not support the members
 * @throws RunyardError 422 naming the first such member
 */
export function refuseUnsupportedMembers(sent: unknown, members: UnsupportedMembers, subject: string, at = ""): void {
  for (const [name, rule] of Object.entries(members)) {
    const value = readMember(sent, name);
    const { supported, remedy } = typeof rule === "string" ? { supported: isEmpty, remedy: rule } : rule;
    if (isEmpty(value) || supported(value)) continue;
    const path = at === "" ? name : `${at}.${name}`;
    const detail = `${path}: is not supported by ${subject}; ${remedy}`;
    throw new RunyardError("operation_not_supported", { detail, errors: [{ path, message: remedy }] });
  }
}

/** Reads an own member by its path. */
export const readMember = (from: unknown, path: string): unknown =>
  path.split(".").reduce<unknown>((object, name) => new Map(Object.entries(Object(object))).get(name), from);

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || value === "" || ["[]", "{}"].includes(JSON.stringify(value));
