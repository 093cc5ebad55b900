import * as v from "valibot";
import { RunyardError } from "#shared/errors.ts";
import { isUuid } from "#shared/ids.ts";
import { logLine } from "#shared/log/log.ts";
import { isTerminal } from "#shared/records/run.ts";
import { isLocal, ownerOf, parseRunHead, type RunHead } from "#shared/records/run-head.ts";
import { parseTeam } from "#shared/records/team.ts";
import { parseUser } from "#shared/records/user.ts";
import { keys } from "#shared/table/keys.ts";
import { ConditionFailed, type Table } from "#shared/table/table.ts";
import { parseKey } from "./api-key.ts";
import type { Principal, UsedKey } from "./principal.ts";

const common = { expires_at_ms: v.exactOptional(v.number()), last_used_at: v.exactOptional(v.number()) };
const ApiKeyItem = v.variant("kind", [
  /** `team_uid` is the team that its owner was in when it was made: a guess at which team to read along. */
  v.object({
    kind: v.literal("personal"),
    user_uid: v.string(),
    team_uid: v.exactOptional(v.string()),
    ...common,
  }),
  v.object({ kind: v.literal("agent"), identity_uid: v.string(), team_uid: v.string(), ...common }),
]);
const IdentityItem = v.object({ uid: v.string(), name: v.string() });

/** Milliseconds during which a further use of a key is not noted again. */
const NOTED_MS = 3_600_000;

const refused = (detail: string) =>
  new RunyardError("authentication_required", { detail, headers: { "www-authenticate": "Bearer" } });

/**
 * Finds out who calls by strong reads, with nothing kept across requests: a deleted key, a removed member or an ended
 * execution is refused by the very next request.
 */
export function principalStore(table: Table, now: () => number) {
  async function personal(
    userUid: string,
    apiKey: UsedKey,
    activeTeam: string | undefined,
    defaultTeam: string | undefined,
  ): Promise<Principal> {
    const wanted = activeTeam !== undefined && isUuid(activeTeam) ? activeTeam : defaultTeam;
    const [profile, item] = await table.batchGet([
      keys.user(userUid),
      ...(wanted === undefined ? [] : [keys.team(wanted)]),
    ]);
    if (profile === undefined) throw refused("the API key is not valid");
    const { teams, ...user } = parseUser(profile);
    const isTheirs = teams.some(({ uid }) => uid === wanted);
    const teamItem = item === undefined || !isTheirs ? undefined : parseTeam(item);
    return { kind: "personal", user, teams, activeTeam, teamItem, apiKey };
  }

  async function agent(identityUid: string, team: string, apiKey: UsedKey): Promise<Principal> {
    const [found, teamItem] = await table.batchGet([keys.identity(team, identityUid), keys.team(team)]);
    if (found === undefined || teamItem === undefined) throw refused("the API key is not valid");
    const { uid, name } = v.parse(IdentityItem, found);
    return { kind: "agent", identity: { uid, name }, team, teamItem: parseTeam(teamItem), apiKey };
  }

  async function run(runId: string, hash: string): Promise<Principal> {
    const found = await table.get(keys.head(runId));
    const head = found === undefined ? undefined : parseRunHead(found);
    if (head === undefined || head.execution_id === undefined || head.key_hash !== hash) {
      throw refused("the run's key is no longer valid");
    }
    if (isLocal(head)) await refuseRemovedCreator(head);
    return { kind: "run", head, executionId: head.execution_id, stopping: isTerminal(head.state) };
  }

  /** The key of a LOCAL run is in its caller's hands: of a team's run it is good only while that person is a member. */
  async function refuseRemovedCreator(head: RunHead): Promise<void> {
    const owner = ownerOf(head);
    if (owner.type !== "Team") return;
    // Of a run that an agent's key created there is no such person.
    const creator = await table.get(keys.user(head.p.creator));
    if (creator === undefined || parseUser(creator).teams.some(({ uid }) => uid === owner.uid)) return;
    throw refused("the run's key is no longer valid");
  }

  return {
    /** The principal of an Authorization header. Throws `authentication_required`. */
    async authenticate(authorization: string | undefined, activeTeam: string | undefined): Promise<Principal> {
      const [, token] = /^Bearer +(\S+)$/i.exec(authorization ?? "") ?? [];
      if (token === undefined) throw refused("send the header Authorization: Bearer <API key>");
      const key = parseKey(token);
      if (key === undefined) throw refused("the API key is malformed");
      if (key.kind === "run") return run(key.runId, key.hash);
      const found = await table.get(keys.apiKey(key.hash));
      if (found === undefined) throw refused("the API key is not valid");
      const item = v.parse(ApiKeyItem, found);
      if (item.expires_at_ms !== undefined && item.expires_at_ms <= now()) throw refused("the API key has expired");
      const used = { hash: key.hash, usedAt: item.last_used_at };
      if (item.kind === "personal") return personal(item.user_uid, used, activeTeam, item.team_uid);
      return agent(item.identity_uid, item.team_uid, used);
    },

    /**
     * Notes that the key of a call was used, at most once an hour. Only calls that change something come here, since no
     * function that reads has the right to write. A note that fails is no reason to fail the call.
     */
    async noteUse(principal: Principal): Promise<void> {
      if (principal.kind === "run") return;
      const { hash, usedAt } = principal.apiKey;
      const at = now();
      if (usedAt !== undefined && at - usedAt < NOTED_MS) return;
      const write = {
        kind: "update",
        key: keys.apiKey(hash),
        set: { last_used_at: at },
        // A key that its own call has deleted stays deleted.
        if: { pk: { exists: true } },
      } as const;
      await table.write(write).catch((error: unknown) => {
        if (!(error instanceof ConditionFailed)) logLine("warn", "the use of a key was not noted", { error });
      });
    },
  };
}
export type PrincipalStore = ReturnType<typeof principalStore>;
