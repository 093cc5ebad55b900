import { keys } from "#shared/table/keys.ts";
import type { Item, Put, Update } from "#shared/table/table.ts";
import { DEFAULT_IDENTITY_LIMIT } from "./team.ts";

const ENTRY = "identity:";

/**
 * Creates the register of a team's identities: their number, the plan's limit, and an attribute for each. One small item
 * says which identities are available, and its condition enforces the limit for concurrent requests.
 */
export const putRegister = (team: string, first: string, now: number, limit: number | undefined): Put => ({
  kind: "put",
  item: {
    ...keys.identities(team),
    v: 1,
    identities: 1,
    [`${ENTRY}${first}`]: now,
    ...(limit === undefined ? {} : { identity_limit: limit }),
  },
});

/** Adds an identity to the register, unless the team has as many as its plan allows. */
export const register = (team: string, uid: string, now: number): Update => ({
  kind: "update",
  key: keys.identities(team),
  set: { [`${ENTRY}${uid}`]: now },
  add: { identities: 1 },
  if: { identities: { belowAttribute: "identity_limit", otherwise: DEFAULT_IDENTITY_LIMIT } },
});

/** Removes an identity from the register; fails where it is not in it. */
export const unregister = (team: string, uid: string): Update => ({
  kind: "update",
  key: keys.identities(team),
  add: { identities: -1 },
  remove: [`${ENTRY}${uid}`],
  if: { [`${ENTRY}${uid}`]: { exists: true } },
});

/** The identities within the plan's limit: the oldest ones. Ids sort by creation. */
export function parseAvailable(register: Item | undefined): ReadonlySet<string> {
  const limit = register?.["identity_limit"];
  const uids = Object.keys(register ?? {})
    .filter((name) => name.startsWith(ENTRY))
    .map((name) => name.slice(ENTRY.length))
    .sort();
  return new Set(uids.slice(0, typeof limit === "number" ? limit : DEFAULT_IDENTITY_LIMIT));
}
