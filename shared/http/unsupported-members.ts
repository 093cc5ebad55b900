import { RunyardError } from "#shared/errors.ts";

/** Names of members that clients send and this version does not carry out, and what to do instead. */
export type UnsupportedMembers = Readonly<Record<string, string>>;

/**
 * Refuses members that this version knows and does not carry out, unless they are empty: to ignore them would be to do something
 * else than what was asked for.
 * @param sent an object of the body as it was sent
 * @param at its path in the body
 * @param subject what does not support the members
 * @throws RunyardError 422 naming the first such member
 */
export function refuseUnsupportedMembers(sent: unknown, members: UnsupportedMembers, subject: string, at = ""): void {
  const sentMembers = new Map(Object.entries(Object(sent)));
  for (const [name, remedy] of Object.entries(members)) {
    if (isEmpty(sentMembers.get(name))) continue;
    const path = at === "" ? name : `${at}.${name}`;
    const detail = `${path}: is not supported by ${subject}; ${remedy}`;
    throw new RunyardError("operation_not_supported", { detail, errors: [{ path, message: remedy }] });
  }
}

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || value === "" || ["[]", "{}"].includes(JSON.stringify(value));
