import { keys } from "#shared/table/keys.ts";
import type { Item, Put, Update } from "#shared/table/table.ts";
import { DEFAULT_IDENTITY_LIMIT } from "./team.ts";

const MEMBER = "identity:";

/**
 * The register of a team's identities: their number, the plan's limit, and an attribute for each. One small item tells
 * which identities are available, and its condition is the limit, however many are created at once.
 */
export const newRegister = (team: string, first: string, now: number, limit: number | undefined): Put => ({
  kind: "put",
  item: {
    ...keys.identities(team),
    v: 1,
    identities: 1,
    [`${MEMBER}${first}`]: now,
    ...(limit === undefined ? {} : { identity_limit: limit }),
  },
});

/** Takes an identity up, unless the team has as many as its plan allows. */
export const register = (team: string, uid: string, now: number): Update => ({
  kind: "update",
  key: keys.identities(team),
  set: { [`${MEMBER}${uid}`]: now },
  add: { identities: 1 },
  if: { identities: { belowAttribute: "identity_limit", otherwise: DEFAULT_IDENTITY_LIMIT } },
});

export const unregister = (team: string, uid: string): Update => ({
  kind: "update",
  key: keys.identities(team),
  add: { identities: -1 },
  remove: [`${MEMBER}${uid}`],
  if: { [`${MEMBER}${uid}`]: { exists: true } },
});

/** The identities within the plan's limit: the oldest ones. Ids sort by creation. */
export function availableIn(register: Item | undefined): ReadonlySet<string> {
  const limit = register?.["identity_limit"];
  const uids = Object.keys(register ?? {})
    .filter((name) => name.startsWith(MEMBER))
    .map((name) => name.slice(MEMBER.length))
    .sort();
  return new Set(uids.slice(0, typeof limit === "number" ? limit : DEFAULT_IDENTITY_LIMIT));
}
