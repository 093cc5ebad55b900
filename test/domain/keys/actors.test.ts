import { describe, expect, it } from "vitest";
import type { AgentPrincipal, PersonalPrincipal, Principal } from "#shared/principals/principal.ts";
import { putRegister, register } from "#shared/records/identity-register.ts";
import { parseRunHead } from "#shared/records/run-head.ts";
import { resolveActors } from "#shared/runs/actors/resolve-actors.ts";
import { keys, type Owner } from "#shared/table/keys.ts";
import { memoryTable } from "#shared/table/memory-table.ts";
import type { Key } from "#shared/table/table.ts";
import type { RunAgentRequest } from "#shared/wire/runs/new-run.ts";

const TEAM = "019e3c75-9780-7b78-8a54-7a1960320001";
const ADA = "019e3c75-9780-7b78-8a54-7a1960320002";
const BOT = "019e3c75-9780-7b78-8a54-7a1960320003";
const OTHER = "019e3c75-9780-7b78-8a54-7a1960320004";
const RUN = "019e3c75-9780-7b78-8a54-7a1960320005";
const ownedByTeam: Owner = { type: "Team", uid: TEAM };
const team = { uid: TEAM, name: "Bench", created_at: 1 };
const credential = { kind: "key", hash: "h", usedAt: undefined, expiresAt: undefined } as const;

const person: PersonalPrincipal = {
  kind: "personal",
  user: { uid: ADA, displayName: "Ada", email: "ada@runyard.test" },
  teams: [{ uid: TEAM, role: "admin" }],
  ...{ activeTeam: undefined, teamItem: team, credential },
};
const agent: AgentPrincipal = {
  kind: "agent",
  identity: { uid: BOT, name: "Bot" },
  ...{ team: TEAM, teamItem: team, credential, maxBudgetUsd: undefined },
};
const head = parseRunHead({
  ...keys.head(RUN),
  ...{ v: 1, scope: `TEAM#${TEAM}#0`, state: "QUEUED", updated_key: `0000000000001#${RUN}` },
  p: { creator: ADA, source: "API", location: "REMOTE" },
});
const run: Principal = { kind: "run", head, executionId: "e", stopping: false };
const profiles = {
  user: { type: "user", uid: ADA, display_name: "Ada", email: "ada@runyard.test" },
  bot: { type: "service_account", uid: BOT, display_name: "Bot" },
} as const;

/** A team with one member and two identities, and what is read of it for a new run. */
async function resolve(
  principal: Principal,
  request: RunAgentRequest = {},
  { owner = ownedByTeam, parent }: { owner?: Owner; parent?: (typeof profiles)[keyof typeof profiles] } = {},
) {
  const table = memoryTable();
  const put = (key: Key, item: object) => table.write({ kind: "put", item: { ...key, ...item } });
  await put(keys.team(TEAM), team);
  const times = { created_at: 1, updated_at: 1 };
  const bot = { uid: BOT, team_uid: TEAM, name: "Bot", on_behalf_of_enabled: true, ...times };
  await put(keys.identity(TEAM, BOT), bot);
  await put(keys.identity(TEAM, OTHER), { uid: OTHER, team_uid: TEAM, name: "Other", ...times });
  await table.write(putRegister(TEAM, BOT, 1, undefined));
  await table.write(register(TEAM, OTHER, 2));
  const member = { team_uid: TEAM, user_uid: ADA, role: "admin", display_name: "Ada", email: "ada@runyard.test" };
  await put(keys.member(TEAM, ADA), { ...member, created_at: 1 });
  const reads: (readonly Key[])[] = [];
  const batchGet: typeof table.batchGet = (wanted) => {
    reads.push(wanted);
    return table.batchGet(wanted);
  };
  const actors = await resolveActors(request, principal, parent, owner, { ...table, batchGet });
  return { actors, reads };
}

const [identities, bot, other, member] = [
  keys.identities(TEAM),
  keys.identity(TEAM, BOT),
  keys.identity(TEAM, OTHER),
  keys.member(TEAM, ADA),
];

describe("resolveActors", () => {
  it.each<readonly [string, Principal, RunAgentRequest, Parameters<typeof resolve>[2], readonly (readonly Key[])[]]>([
    ["nothing for a person's run in the team that was read with them", person, {}, {}, []],
    [
      "the team where another one was read",
      { ...person, teamItem: { ...team, uid: OTHER } },
      {},
      {},
      [[keys.team(TEAM)]],
    ],
    ["the team where none was read", { ...person, teamItem: undefined }, {}, {}, [[keys.team(TEAM)]]],
    ["no team for a personal run", person, {}, { owner: { type: "User", uid: ADA } }, []],
    ["the named identity", person, { agent_identity_uid: OTHER }, {}, [[identities, other]]],
    ["the identity that calls", agent, {}, {}, [[identities, bot]]],
    [
      "the calling identity once where it acts for a member",
      agent,
      { on_behalf_of: ADA },
      {},
      [[identities, bot, member]],
    ],
    [
      "both identities where the calling one acts for a member, and another executes",
      agent,
      { on_behalf_of: ADA, agent_identity_uid: OTHER },
      {},
      [[identities, other, bot, member]],
    ],
    ["no member by an address", agent, { on_behalf_of: "ada@runyard.test" }, {}, [[identities, bot]]],
    ["the team for a run's key", run, {}, { parent: profiles.user }, [[keys.team(TEAM)]]],
    ["the identity of the parent", run, {}, { parent: profiles.bot }, [[keys.team(TEAM), identities, bot]]],
  ])("reads %s", async (_, principal, request, options, expected) => {
    const { actors, reads } = await resolve(principal, request, options);
    expect(reads).toEqual(expected);
    expect(actors.team).toEqual(options?.owner === undefined ? expect.objectContaining(team) : undefined);
  });
});
