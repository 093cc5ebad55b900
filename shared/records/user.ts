import * as v from "valibot";
import { sortByText } from "#shared/arrays.ts";
import { keys } from "#shared/table/keys.ts";
import type { Item, Key, Put, Update } from "#shared/table/table.ts";
import { Role } from "#shared/wire/role.ts";
import type { UserProfile } from "#shared/wire/run.ts";
import type { Person } from "./member.ts";

const ROLE_IN = "team:";

/** The attribute of a user's item that holds the role in a team, so that one read returns all memberships. */
const roleAttribute = (team: string): string => `${ROLE_IN}${team}`;

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
    .map(([name, role]) => ({ uid: name.slice(ROLE_IN.length), role: v.parse(Role, role) }));
  return { uid, displayName: display_name, email, teams: sortByText(teams, (team) => team.uid) };
}

/**
 * How an account was created. Everybody who has the link of an invitation can accept it, so that only a sign-in with an OIDC
 * issuer proves whose the invited address is.
 */
export type AccountOrigin = "bootstrap" | "invitation";

/** Creates a user with the role in each of their teams. */
export function putUser(
  { uid, displayName, email }: Person,
  teams: Readonly<Record<string, Role>>,
  now: number,
  origin: AccountOrigin,
): Put {
  const roles = Object.fromEntries(Object.entries(teams).map(([team, role]) => [roleAttribute(team), role]));
  return {
    kind: "put",
    item: { ...keys.user(uid), v: 1, uid, display_name: displayName, email, origin, created_at: now, ...roles },
    if: { pk: { exists: false } },
  };
}

/** A person as responses show them. */
export const toUserProfile = ({ uid, displayName, email }: Person): UserProfile => ({
  type: "user",
  uid,
  display_name: displayName,
  email,
});

/** An address in the form that is compared. */
export const foldEmail = (email: string): string => email.normalize("NFKC").trim().toLowerCase();

/** Makes a user an admin of the team that they create. */
export const addFirstRole = (team: string, user: string): Update => ({
  kind: "update",
  key: keys.user(user),
  set: { [roleAttribute(team)]: "admin" },
  if: { pk: { exists: true } },
});

/** Adds a team to a user's memberships; fails where they are a member already. */
export const addRole = (team: string, user: string, role: Role): Update => ({
  kind: "update",
  key: keys.user(user),
  set: { [roleAttribute(team)]: role },
  if: { pk: { exists: true }, [roleAttribute(team)]: { exists: false } },
});

/** Changes a user's role in a team, if it still is `before`. */
export const replaceRole = (team: string, user: string, before: Role, role: Role): Update => ({
  kind: "update",
  key: keys.user(user),
  set: { [roleAttribute(team)]: role },
  if: { [roleAttribute(team)]: { eq: before } },
});

/** Removes a team from a user's memberships. */
export const removeRole = (team: string, user: string): Update => ({
  kind: "update",
  key: keys.user(user),
  remove: [roleAttribute(team)],
});

/** Key of the item that assigns an address to its account. */
export const userByEmailKey = (email: string): Key => keys.userByEmail(foldEmail(email));
