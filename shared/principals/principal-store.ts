import * as v from "valibot";
import { RunyardError } from "#shared/errors.ts";
import { isUuid } from "#shared/ids.ts";
import { logLine } from "#shared/log/log.ts";
import { countRefusal, type NewAuditEvent, putAuditEvent } from "#shared/records/audit-event.ts";
import { isTerminal } from "#shared/records/run.ts";
import { isLocal, parseOwner, parseRunHead, type RunHead } from "#shared/records/run-head.ts";
import { parseTeam } from "#shared/records/team.ts";
import { parseUser } from "#shared/records/user.ts";
import { parseWebSession, touchWebSession, webSessionExpiry, webSessionKey } from "#shared/records/web-session.ts";
import { keys } from "#shared/table/keys.ts";
import { ConditionFailed, type Item, type Table, type Update } from "#shared/table/table.ts";
import { Scope } from "#shared/wire/keys/scope.ts";
import { parseKey } from "./api-key.ts";
import { type AgentPrincipal, isInTeam, type PersonalPrincipal, type Principal, type UsedKey } from "./principal.ts";
import { parseSessionToken } from "./session-token.ts";

const common = {
  expires_at_ms: v.exactOptional(v.number()),
  last_used_at: v.exactOptional(v.number()),
  /** Absent where the key has all scopes. */
  scopes: v.exactOptional(v.array(Scope)),
  budget_usd_month: v.exactOptional(v.number()),
  runs_per_day: v.exactOptional(v.number()),
};
const ApiKeyItem = v.variant("kind", [
  v.object({
    kind: v.literal("personal"),
    user_uid: v.string(),
    /** The team that its owner was in when it was created: likely the one to read with the user. */
    team_uid: v.exactOptional(v.string()),
    ...common,
  }),
  v.object({
    kind: v.literal("agent"),
    identity_uid: v.string(),
    team_uid: v.string(),
    /** Of a key that an OIDC token was exchanged for: the trust rule, and the person who saved it. */
    rule_uid: v.exactOptional(v.string()),
    saved_by: v.exactOptional(v.string()),
    max_budget_usd: v.exactOptional(v.number()),
    ...common,
  }),
]);
type AgentKeyItem = Extract<v.InferOutput<typeof ApiKeyItem>, { kind: "agent" }>;
const IdentityItem = v.object({ uid: v.string(), name: v.string() });

/** A further use of a key or a session within this time is not recorded. */
const KEY_USE_RECORDED_MS = 3_600_000;
const SESSION_USE_RECORDED_MS = 300_000;

const refused = (detail: string) =>
  new RunyardError("authentication_required", { detail, headers: { "www-authenticate": "Bearer" } });

/**
 * Authenticates callers with strongly consistent reads and without a cache: a deleted key, a removed member or an ended
 * execution is refused by the next request.
 */
export function principalStore(table: Table, now: () => number) {
  return {
    /**
     * The principal of an Authorization header.
     * @throws RunyardError `authentication_required`
     */
    async authenticate(authorization: string | undefined, activeTeam: string | undefined): Promise<Principal> {
      const [, token] = /^Bearer +(\S+)$/i.exec(authorization ?? "") ?? [];
      if (token === undefined) throw refused("send the header Authorization: Bearer <API key>");
      const key = parseKey(token);
      if (key === undefined) throw refused("the API key is malformed");
      if (key.kind === "run") return readRun(key.runId, key.hash, table);
      return readOwner(key.hash, activeTeam, table, now);
    },

    /** Records a refused request in the audit log of a team, up to a number of them in an hour. */
    async recordRefusal(team: string, event: NewAuditEvent): Promise<void> {
      try {
        await table.transact([countRefusal(team, now()), putAuditEvent(team, event, now())]);
      } catch (error) {
        // The request is refused all the same.
        if (!(error instanceof ConditionFailed)) logLine("error", "a refused request was not recorded", { error });
      }
    },

    /** Whether the personal or agent key with this hash is valid still, and its owner in the team. */
    async isValidIn(hash: string, team: string): Promise<boolean> {
      try {
        return isInTeam(await readOwner(hash, team, table, now), team);
      } catch (error) {
        if (error instanceof RunyardError) return false;
        throw error;
      }
    },

    /**
     * The principal of a session token. A session that was started with an API key is valid as long as the key is.
     * @throws RunyardError `authentication_required`
     */
    async authenticateSession(token: string, activeTeam: string | undefined): Promise<PersonalPrincipal> {
      const parsed = parseSessionToken(token);
      const found = parsed === undefined ? undefined : await table.get(webSessionKey(parsed));
      if (found === undefined) throw sessionOver();
      const session = parseWebSession(found);
      if (webSessionExpiry(session) <= now()) throw sessionOver();
      const options = { activeTeam, defaultTeam: session.team_uid, keyHash: session.key_hash };
      const { person, key } = await readPerson(session.user_uid, options, table);
      const keyItem = key === undefined ? undefined : parseValidKey(key, now());
      if (session.key_hash !== undefined && keyItem === undefined) throw sessionOver();
      return { ...person, credential: { kind: "session", session }, ...readPowers(session.key_hash ?? "", keyItem) };
    },

    /**
     * Records the use of a request's key or session, at most once an hour or every five minutes. Only endpoints that write call
     * it, since functions that only read have no right to write. A failure is logged and does not fail the request.
     */
    async noteUse(principal: Principal): Promise<void> {
      if (principal.kind === "run") return;
      const write = useToRecord(principal, now());
      if (write === undefined) return;
      await table.write(write).catch((error: unknown) => {
        if (!(error instanceof ConditionFailed)) logLine("warn", "the use of a credential was not recorded", { error });
      });
    },
  };
}
export type PrincipalStore = ReturnType<typeof principalStore>;

const sessionOver = () => refused("the web session has ended; sign in again");

/** The write that records the use of a credential, if one is due. A credential that its own request has deleted stays deleted. */
function useToRecord({ credential }: PersonalPrincipal | AgentPrincipal, now: number): Update | undefined {
  if (credential.kind === "session") {
    const { session } = credential;
    return now - session.last_used_at < SESSION_USE_RECORDED_MS ? undefined : touchWebSession(session, now);
  }
  const { hash, usedAt } = credential;
  if (usedAt !== undefined && now - usedAt < KEY_USE_RECORDED_MS) return undefined;
  return { kind: "update", key: keys.apiKey(hash), set: { last_used_at: now }, if: { pk: { exists: true } } };
}

/** The stored key; undefined where it has expired. */
function parseValidKey(item: Item, now: number): v.InferOutput<typeof ApiKeyItem> | undefined {
  const key = v.parse(ApiKeyItem, item);
  return key.expires_at_ms === undefined || key.expires_at_ms > now ? key : undefined;
}

/** What a request with the key, or with a session of it, may do. */
function readPowers(hash: string, key: v.InferOutput<typeof ApiKeyItem> | undefined) {
  const { scopes, budget_usd_month: budgetUsd, runs_per_day: runsPerDay } = key ?? {};
  const limits = budgetUsd === undefined && runsPerDay === undefined ? undefined : { hash, budgetUsd, runsPerDay };
  return { scopes, limits };
}

/** Reads the owner of a personal or agent key. */
async function readOwner(
  hash: string,
  activeTeam: string | undefined,
  table: Table,
  now: () => number,
): Promise<PersonalPrincipal | AgentPrincipal> {
  const found = await table.get(keys.apiKey(hash));
  if (found === undefined) throw refused("the API key is not valid");
  const item = parseValidKey(found, now());
  if (item === undefined) throw refused("the API key has expired");
  const credential = { kind: "key", hash, usedAt: item.last_used_at, expiresAt: item.expires_at_ms } as const;
  if (item.kind === "agent") return readAgent(item, credential, table);
  const { person } = await readPerson(item.user_uid, { activeTeam, defaultTeam: item.team_uid }, table);
  return { ...person, credential, ...readPowers(hash, item) };
}

interface PersonOptions {
  readonly activeTeam: string | undefined;
  readonly defaultTeam: string | undefined;
  /** An API key to read as well. */
  readonly keyHash?: string | undefined;
}

/** Reads a user together with the team that the request is most likely about. */
async function readPerson(
  userUid: string,
  { activeTeam, defaultTeam, keyHash }: PersonOptions,
  table: Table,
): Promise<{
  readonly person: Omit<PersonalPrincipal, "credential" | "scopes" | "limits">;
  readonly key: Item | undefined;
}> {
  const teamUid = activeTeam !== undefined && isUuid(activeTeam) ? activeTeam : defaultTeam;
  const [profile, ...others] = await table.batchGet([
    keys.user(userUid),
    ...(teamUid === undefined ? [] : [keys.team(teamUid)]),
    ...(keyHash === undefined ? [] : [keys.apiKey(keyHash)]),
  ]);
  if (profile === undefined) throw refused("the API key is not valid");
  const item = teamUid === undefined ? undefined : others[0];
  const { teams, ...user } = parseUser(profile);
  const isMember = teams.some(({ uid }) => uid === teamUid);
  const teamItem = item === undefined || !isMember ? undefined : parseTeam(item);
  return {
    person: { kind: "personal", user, teams, activeTeam, teamItem },
    key: keyHash === undefined ? undefined : others.at(-1),
  };
}

async function readAgent(key: AgentKeyItem, credential: UsedKey, table: Table): Promise<AgentPrincipal> {
  const { identity_uid, team_uid: team, rule_uid, saved_by, max_budget_usd: maxBudgetUsd } = key;
  const [found, teamItem, ...trust] = await table.batchGet([
    keys.identity(team, identity_uid),
    keys.team(team),
    ...(rule_uid === undefined ? [] : [keys.trustRule(team, identity_uid, rule_uid)]),
    ...(saved_by === undefined ? [] : [keys.member(team, saved_by)]),
  ]);
  if (found === undefined || teamItem === undefined) throw refused("the API key is not valid");
  if (trust.includes(undefined)) throw refused("the API key is not valid: its trust rule has ended");
  const { uid, name } = v.parse(IdentityItem, found);
  const identity = { uid, name };
  return {
    kind: "agent",
    identity,
    team,
    teamItem: parseTeam(teamItem),
    credential,
    maxBudgetUsd,
    ...readPowers(credential.hash, key),
  };
}

async function readRun(runId: string, hash: string, table: Table): Promise<Principal> {
  const found = await table.get(keys.head(runId));
  const head = found === undefined ? undefined : parseRunHead(found);
  if (head === undefined || head.execution_id === undefined || head.key_hash !== hash) {
    throw refused("the run's key is no longer valid");
  }
  if (isLocal(head)) await refuseRemovedCreator(head, table);
  return { kind: "run", head, executionId: head.execution_id, stopping: isTerminal(head.state), scopes: head.scopes };
}

/** The caller holds the key of a LOCAL run: for a team's run it is valid only while that person is a member. */
async function refuseRemovedCreator(head: RunHead, table: Table): Promise<void> {
  const owner = parseOwner(head);
  if (owner.type !== "Team") return;
  // There is no such user where an agent key created the run.
  const creator = await table.get(keys.user(head.p.creator));
  if (creator === undefined || parseUser(creator).teams.some(({ uid }) => uid === owner.uid)) return;
  throw refused("the run's key is no longer valid");
}
