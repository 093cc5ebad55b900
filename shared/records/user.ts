import * as v from "valibot";
import { keys } from "#shared/table/keys.ts";
import type { Item, Put } from "#shared/table/table.ts";
import { Role } from "#shared/wire/role.ts";
import type { UserProfile } from "#shared/wire/run.ts";

const ROLE_IN = "team:";

/** The attribute of a user's item that holds the role in a team, so that one read tells all memberships. */
export const roleAttribute = (team: string): string => `${ROLE_IN}${team}`;

const User = v.looseObject({ uid: v.string(), display_name: v.string(), email: v.string() });

export interface User {
  readonly uid: string;
  readonly displayName: string;
  readonly email: string;
  /** Oldest team first. */
  readonly teams: readonly { readonly uid: string; readonly role: Role }[];
}

export function parseUser(item: Item): User {
  const { uid, display_name, email, ...rest } = v.parse(User, item);
  const teams = Object.entries(rest)
    .filter(([name]) => name.startsWith(ROLE_IN))
    .map(([name, role]) => ({ uid: name.slice(ROLE_IN.length), role: v.parse(Role, role) }))
    .sort((a, b) => (a.uid < b.uid ? -1 : 1));
  return { uid, displayName: display_name, email, teams };
}

/** A new user with the role in each of their teams. */
export function newUser(
  { uid, displayName, email }: Pick<User, "uid" | "displayName" | "email">,
  teams: Readonly<Record<string, Role>>,
  now: number,
): Put {
  const roles = Object.fromEntries(Object.entries(teams).map(([team, role]) => [roleAttribute(team), role]));
  return {
    kind: "put",
    item: { ...keys.user(uid), v: 1, uid, display_name: displayName, email, created_at: now, ...roles },
    if: { pk: { exists: false } },
  };
}

/** A person as responses show them. */
export const toUserProfile = ({
  uid,
  displayName,
  email,
}: Pick<User, "uid" | "displayName" | "email">): UserProfile => ({
  type: "user",
  uid,
  display_name: displayName,
  email,
});

/** An address as it is compared. */
export const foldedEmail = (email: string): string => email.normalize("NFKC").trim().toLowerCase();
