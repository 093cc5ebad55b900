import { beforeEach, describe, expect, it, vi } from "vitest";
import { hashKey, newRunKey } from "#shared/principals/api-key.ts";
import { listTeamsToRead, requireTeam } from "#shared/principals/default-team.ts";
import { findDefaultTeam } from "#shared/principals/find-default-team.ts";
import {
  type AgentPrincipal,
  isInTeam,
  listVisibleOwners,
  type PersonalPrincipal,
  type Principal,
  seesOwner,
  toPrincipalKey,
  toProfile,
} from "#shared/principals/principal.ts";
import { principalStore } from "#shared/principals/principal-store.ts";
import { resolveOwner } from "#shared/principals/resolve-owner.ts";
import { parseSessionToken } from "#shared/principals/session-token.ts";
import { keys, type Owner } from "#shared/table/keys.ts";
import { createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { createRun, type Harness, workingRun } from "../../support/execution.ts";
import { startSession } from "../../support/web-sessions.ts";

const HOUR = 3_600_000;
const NOBODY = "0198b2a1-5d6e-7f80-9a1b-2c3d4e5f6a7b";

let plane: TestControlPlane;
beforeEach(async () => {
  plane = await createTestControlPlane();
});
const store = () => principalStore(plane.table, () => plane.clock.now);
const authenticate = (key: string, activeTeam?: string): Promise<Principal> =>
  store().authenticate(`Bearer ${key}`, activeTeam);

async function readPerson(key: string, activeTeam?: string): Promise<PersonalPrincipal> {
  const principal = await authenticate(key, activeTeam);
  if (principal.kind !== "personal") throw new Error("not a person");
  return principal;
}
async function readAgent(key: string): Promise<AgentPrincipal> {
  const principal = await authenticate(key);
  if (principal.kind !== "agent") throw new Error("not an agent");
  return principal;
}
/** A person in both teams, whose key was created in the first. */
const traveller = () => plane.person("Tia", [plane.team, plane.otherTeam]);
/** A person in no team. */
const loner = () => plane.person("Lou", []);
const refusal = (detail: RegExp) =>
  expect.objectContaining({
    code: "authentication_required",
    detail: expect.stringMatching(detail),
    headers: { "www-authenticate": "Bearer" },
  });
const refusedBecause = async (detail: RegExp, work: Promise<unknown>) =>
  expect(await work.catch((error: unknown) => error)).toEqual(refusal(detail));
const field = (path: string) => expect.objectContaining({ errors: [expect.objectContaining({ path })] });
const thrownBy = (work: () => unknown): unknown => {
  try {
    return work();
  } catch (error) {
    return error;
  }
};

describe("authenticate", () => {
  it("takes a bearer token in any case and after any number of spaces, and nothing else", async () => {
    for (const good of ["Bearer ", "bearer ", "BEARER   "]) {
      expect(await store().authenticate(good + plane.key, undefined)).toMatchObject({ kind: "personal" });
    }
    for (const bad of [
      undefined,
      "",
      plane.key,
      `Basic ${plane.key}`,
      `x Bearer ${plane.key}`,
      "Bearer",
      "Bearer a b",
    ]) {
      await refusedBecause(/^send the header Authorization: Bearer/, store().authenticate(bad, undefined));
    }
    await refusedBecause(/malformed/, store().authenticate("Bearer ryp_x", undefined));
  });

  it("returns the person of a personal key with all teams, and the team that it was created in", async () => {
    const tia = await traveller();
    expect(await authenticate(tia.key)).toEqual({
      kind: "personal",
      user: { uid: tia.uid, displayName: "Tia", email: "tia@runyard.test" },
      teams: expect.arrayContaining([
        { uid: plane.team, role: "member" },
        { uid: plane.otherTeam, role: "member" },
      ]),
      activeTeam: undefined,
      teamItem: expect.objectContaining({ uid: plane.team, name: "Alpha" }),
      credential: { kind: "key", hash: hashKey(tia.key), usedAt: undefined, expiresAt: undefined },
    });
  });

  it("reads the team that the request names instead, if the person is in it", async () => {
    const tia = await traveller();
    expect(await authenticate(tia.key, plane.otherTeam)).toMatchObject({
      activeTeam: plane.otherTeam,
      teamItem: { uid: plane.otherTeam, name: "Beta" },
    });
    expect(await authenticate(plane.key, plane.otherTeam)).toMatchObject({
      activeTeam: plane.otherTeam,
      teamItem: undefined,
    });
    expect(await authenticate(plane.key, NOBODY)).toMatchObject({ activeTeam: NOBODY, teamItem: undefined });
    // A value that is not an id is not used in a key of the table.
    expect(await authenticate(plane.key, "Alpha")).toMatchObject({
      activeTeam: "Alpha",
      teamItem: { uid: plane.team },
    });
    expect(await readPerson((await loner()).key)).toMatchObject({ teams: [], teamItem: undefined });
    await plane.table.write({ kind: "delete", key: keys.team(plane.team) });
    expect(await authenticate(plane.key), "a team that is being deleted").toMatchObject({ teamItem: undefined });
  });

  it("returns the identity of an agent key with its team", async () => {
    const agent = await plane.agent("nightly");
    expect(await authenticate(agent.key)).toEqual({
      kind: "agent",
      identity: { uid: agent.uid, name: "nightly" },
      team: plane.team,
      teamItem: expect.objectContaining({ uid: plane.team }),
      credential: { kind: "key", hash: hashKey(agent.key), usedAt: undefined, expiresAt: undefined },
    });
  });

  it("refuses a key that was deleted, has expired, or whose owner or team is gone", async () => {
    const [tia, agent, orphan] = [await traveller(), await plane.agent(), await plane.agent("orphan", plane.otherTeam)];
    const expiring = keys.apiKey(hashKey(tia.key));
    const expires_at_ms = plane.clock.now + 1;
    await plane.table.write({ kind: "update", key: expiring, set: { expires_at_ms } });
    expect(await authenticate(tia.key)).toMatchObject({ credential: { expiresAt: expires_at_ms } });
    plane.clock.now += 1;
    await refusedBecause(/the API key has expired/, authenticate(tia.key));
    await plane.table.write({ kind: "delete", key: expiring });
    await refusedBecause(/the API key is not valid/, authenticate(tia.key));
    await plane.table.write({ kind: "delete", key: keys.identity(plane.team, agent.uid) });
    await refusedBecause(/the API key is not valid/, authenticate(agent.key));
    await plane.table.write({ kind: "delete", key: keys.team(plane.otherTeam) });
    await refusedBecause(/the API key is not valid/, authenticate(orphan.key));
    await plane.table.write({ kind: "delete", key: keys.user(plane.user) });
    await refusedBecause(/the API key is not valid/, authenticate(plane.key));
  });
});

describe("authenticate with a run's key", () => {
  const findKey = (run: Harness): string => plane.started.find(({ run_id }) => run_id === run.run_id)?.key ?? "";

  it("returns the run and its execution, which stops once the run has ended", async () => {
    const run = await workingRun(plane);
    expect(await authenticate(findKey(run))).toMatchObject({
      kind: "run",
      head: { run_id: run.run_id },
      executionId: run.execution_id,
      stopping: false,
    });
    expect((await createClient(plane).post(`/agent/runs/${run.run_id}/cancel`)).status).toBe(200);
    expect(await authenticate(findKey(run))).toMatchObject({ stopping: true });
  });

  it("refuses the key of another execution, of a run without one, and of no run", async () => {
    const run = await workingRun(plane);
    await plane.table.write({ kind: "update", key: keys.head(run.run_id), set: { key_hash: hashKey("another") } });
    await refusedBecause(/the run's key is no longer valid/, authenticate(findKey(run)));
    await refusedBecause(/the run's key is no longer valid/, authenticate(newRunKey(await createRun(plane))));
    await plane.table.write({ kind: "delete", key: keys.head(run.run_id) });
    await refusedBecause(/the run's key is no longer valid/, authenticate(findKey(run)));
  });

  it("is valid for a LOCAL run while its creator is in the team, and for other runs regardless", async () => {
    const mia = await plane.person("Mia", [plane.team, plane.otherTeam]);
    const run = await workingRun(plane, { prompt: "hello", team: true }, (await plane.person("Max")).key);
    const creator = (await plane.ports.runs.head(run.run_id))?.p.creator ?? "";
    await plane.removeMember(creator);
    expect(await authenticate(findKey(run)), "a run in a sandbox").toMatchObject({ kind: "run" });
    const local = async (changed: object): Promise<unknown> => {
      const p = { ...(await plane.ports.runs.head(run.run_id))?.p, location: "LOCAL", ...changed };
      await plane.table.write({ kind: "update", key: keys.head(run.run_id), set: { p } });
      return authenticate(findKey(run));
    };
    await refusedBecause(/the run's key is no longer valid/, local({}));
    expect(await local({ creator: mia.uid })).toMatchObject({ kind: "run" });
    await plane.removeMember(mia.uid);
    await refusedBecause(/the run's key is no longer valid/, local({ creator: mia.uid }));
    expect(await local({ creator: NOBODY }), "created by an agent").toMatchObject({ kind: "run" });
  });
});

describe("authenticateSession", () => {
  const token = async (): Promise<string> => (await startSession(plane)).cookie.split("=")[1] ?? "";

  it("returns the person with the session, until it ends", async () => {
    const signedIn = await token();
    expect(await store().authenticateSession(signedIn, undefined)).toMatchObject({
      kind: "personal",
      user: { uid: plane.user },
      teamItem: { uid: plane.team },
      credential: { kind: "session", session: { hash: parseSessionToken(signedIn)?.hash } },
    });
    plane.clock.now += 12 * HOUR - 1;
    expect(await store().authenticateSession(signedIn, undefined)).toMatchObject({ kind: "personal" });
    plane.clock.now += 1;
    await refusedBecause(/the web session has ended/, store().authenticateSession(signedIn, undefined));
  });

  it("refuses an invalid token, an unknown one, and one whose key is deleted or has expired", async () => {
    const signedIn = await token();
    const unknown = signedIn.slice(0, -1) + (signedIn.endsWith("A") ? "B" : "A");
    expect(parseSessionToken(signedIn)).toMatchObject({ user_uid: plane.user });
    for (const bad of ["", "rys_", ` ${signedIn}`, `${signedIn}x`, `x${signedIn}`]) {
      expect(parseSessionToken(bad), bad).toBeUndefined();
    }
    for (const bad of ["", "rys_", unknown, ` ${signedIn}`, `${signedIn}x`, `x${signedIn}`]) {
      await refusedBecause(/the web session has ended/, store().authenticateSession(bad, undefined));
    }
    const key = keys.apiKey(hashKey(plane.key));
    await plane.table.write({ kind: "update", key, set: { expires_at_ms: plane.clock.now + 1 } });
    expect(await store().authenticateSession(signedIn, undefined)).toMatchObject({ kind: "personal" });
    plane.clock.now += 1;
    await refusedBecause(/the web session has ended/, store().authenticateSession(signedIn, undefined));
    await plane.table.write({ kind: "delete", key });
    await refusedBecause(/the web session has ended/, store().authenticateSession(signedIn, undefined));
  });

  it("reads no key if the session was started without one, and reads the named team with and without one", async () => {
    const signedIn = await token();
    expect(await store().authenticateSession(signedIn, plane.otherTeam)).toMatchObject({ teamItem: undefined });
    const parsed = parseSessionToken(signedIn);
    const session = keys.webSession(plane.user, parsed?.hash ?? "");
    await plane.table.write({ kind: "update", key: session, remove: ["team_uid"] });
    expect(await store().authenticateSession(signedIn, undefined)).toMatchObject({ teamItem: undefined });
    await plane.table.write({ kind: "update", key: session, remove: ["key_hash"] });
    expect(await store().authenticateSession(signedIn, undefined)).toMatchObject({
      kind: "personal",
      teamItem: undefined,
    });
    expect(await store().authenticateSession(signedIn, plane.team)).toMatchObject({ teamItem: { uid: plane.team } });
  });
});

describe("isValidIn", () => {
  it("is true in the teams of a key's owner alone, and for a key that is valid", async () => {
    const agent = await plane.agent();
    for (const raw of [plane.key, agent.key]) {
      expect(await store().isValidIn(hashKey(raw), plane.team)).toBe(true);
      expect(await store().isValidIn(hashKey(raw), plane.otherTeam)).toBe(false);
    }
    expect(await store().isValidIn(hashKey("unknown"), plane.team)).toBe(false);
    await plane.removeMember(plane.user);
    expect(await store().isValidIn(hashKey(plane.key), plane.team)).toBe(false);
  });

  it("fails with the error of the table if it cannot be read", async () => {
    const broken = { ...plane.table, get: () => Promise.reject(new Error("no table")) };
    await expect(principalStore(broken, () => plane.clock.now).isValidIn("x", plane.team)).rejects.toThrow("no table");
  });
});

describe("noteUse", () => {
  const lastUsed = async (): Promise<unknown> =>
    (await plane.table.get(keys.apiKey(hashKey(plane.key))))?.["last_used_at"];
  const note = async () => store().noteUse(await authenticate(plane.key));

  it("records the use of a key once an hour", async () => {
    const first = plane.clock.now;
    await note();
    expect(await lastUsed()).toBe(first);
    plane.clock.now = first + HOUR - 1;
    await note();
    expect(await lastUsed()).toBe(first);
    plane.clock.now = first + HOUR;
    await note();
    expect(await lastUsed()).toBe(first + HOUR);
  });

  it("records the use of a session every five minutes", async () => {
    const [, token = ""] = (await startSession(plane)).cookie.split("=");
    const noteSession = async (after: number) => {
      plane.clock.now += after;
      const principal = await store().authenticateSession(token, undefined);
      await store().noteUse(principal);
      const found = await store().authenticateSession(token, undefined);
      return found.credential.kind === "session" ? found.credential.session.last_used_at : undefined;
    };
    const first = plane.clock.now;
    expect(await noteSession(299_999)).toBe(first);
    expect(await noteSession(1)).toBe(first + 300_000);
  });

  it("writes nothing for a run, does not put a deleted key back, and lets a request pass that it cannot record", async () => {
    const run = await workingRun(plane);
    const ofRun = await authenticate(plane.started.find(({ run_id }) => run_id === run.run_id)?.key ?? "");
    const writes: unknown[] = [];
    const failing = {
      ...plane.table,
      write: (write: unknown) => Promise.reject(new Error(`${writes.push(write)} refused`)),
    };
    const failingStore = principalStore(failing, () => plane.clock.now);
    await failingStore.noteUse(ofRun);
    expect(writes).toEqual([]);
    plane.clock.now += HOUR;
    const principal = await authenticate(plane.key);
    await failingStore.noteUse(principal);
    expect(writes).toHaveLength(1);
    const logged = () => JSON.stringify(vi.mocked(process.stdout.write).mock.calls);
    expect(logged()).toContain("the use of a credential was not recorded");
    vi.mocked(process.stdout.write).mockClear();
    await plane.table.write({ kind: "delete", key: keys.apiKey(hashKey(plane.key)) });
    await store().noteUse(principal);
    expect(await plane.table.get(keys.apiKey(hashKey(plane.key)))).toBeUndefined();
    expect(logged()).not.toContain("not recorded");
    await failingStore.noteUse(await authenticate((await plane.agent()).key));
    plane.clock.now += 1;
    const used = await authenticate(plane.otherKey);
    await store().noteUse(used);
    await failingStore.noteUse(await authenticate(plane.otherKey));
    expect(writes, "none within the hour").toHaveLength(2);
    expect(logged().match(/not recorded/g)).toHaveLength(1);
  });
});

describe("the team of a request", () => {
  it("is the named one, else the only one, else a refusal that names the header", async () => {
    const tia = await traveller();
    expect(requireTeam(await readPerson(plane.key))).toBe(plane.team);
    expect(requireTeam(await readPerson(tia.key, plane.otherTeam))).toBe(plane.otherTeam);
    expect(requireTeam(await readPerson(plane.key, NOBODY)), "as the endpoint has checked").toBe(NOBODY);
    const [several, none] = [await readPerson(tia.key), await readPerson((await loner()).key)];
    expect(thrownBy(() => requireTeam(several))).toEqual(field("X-Team-Uid"));
    expect(thrownBy(() => requireTeam(none))).toEqual(field("X-Team-Uid"));
    expect(requireTeam(await authenticate((await plane.agent()).key))).toBe(plane.team);
  });

  it("is for reads all of the caller's, or the named one of theirs, and for a run's key none", async () => {
    const tia = await traveller();
    expect(listTeamsToRead(await readPerson(tia.key)).toSorted()).toEqual([plane.team, plane.otherTeam].toSorted());
    expect(listTeamsToRead(await readPerson(tia.key, plane.otherTeam))).toEqual([plane.otherTeam]);
    expect(listTeamsToRead(await readPerson(tia.key, NOBODY))).toEqual([]);
    expect(listTeamsToRead(await readAgent((await plane.agent()).key))).toEqual([plane.team]);
    const run = await workingRun(plane);
    const ofRun = await authenticate(plane.started.find(({ run_id }) => run_id === run.run_id)?.key ?? "");
    for (const use of [requireTeam, listTeamsToRead]) {
      const refusal = { code: "not_authorized", detail: "a run's key is in no team" };
      expect(thrownBy(() => use(ofRun))).toEqual(expect.objectContaining(refusal));
    }
  });

  it("whose defaults apply is the named or only one, the agent's, or that of the calling run", async () => {
    const tia = await traveller();
    const find = async (principal: Principal) => (await findDefaultTeam(principal, plane.table))?.uid;
    expect(await find(await readPerson(plane.key))).toBe(plane.team);
    expect(await find(await readPerson(tia.key))).toBeUndefined();
    expect(await find(await readPerson(tia.key, plane.otherTeam))).toBe(plane.otherTeam);
    expect(await find(await readAgent((await plane.agent("x", plane.otherTeam)).key))).toBe(plane.otherTeam);
    const [teams, own] = [await workingRun(plane), await workingRun(plane, { prompt: "mine", team: false })];
    const findKey = ({ run_id }: Harness) => plane.started.find((one) => one.run_id === run_id)?.key ?? "";
    expect(await find(await authenticate(findKey(teams)))).toBe(plane.team);
    expect(await find(await authenticate(findKey(own)))).toBeUndefined();
  });
});

describe("a principal", () => {
  it("has a name, a profile, and teams", async () => {
    const [user, agent] = [await readPerson(plane.key), await plane.agent("nightly")];
    const bot = await readAgent(agent.key);
    const run = await workingRun(plane);
    const ofRun = await authenticate(plane.started.find(({ run_id }) => run_id === run.run_id)?.key ?? "");
    expect([user, bot, ofRun].map(toPrincipalKey)).toEqual([
      `user:${plane.user}`,
      `identity:${agent.uid}`,
      `run:${run.run_id}`,
    ]);
    expect(toProfile(user)).toMatchObject({ type: "user", uid: plane.user, display_name: "Ada" });
    expect(toProfile(bot)).toEqual({ type: "service_account", uid: agent.uid, display_name: "nightly" });
    const inTeams = (principal: Principal) => [plane.team, plane.otherTeam].map((team) => isInTeam(principal, team));
    expect(inTeams(user)).toEqual([true, false]);
    expect(inTeams(bot)).toEqual([true, false]);
    expect(inTeams(ofRun), "its rights depend on its run only").toEqual([true, true]);
  });

  it("sees runs of its teams and its own, and of a team that the request names alone in lists", async () => {
    const [tia, bot] = [await traveller(), await readAgent((await plane.agent()).key)];
    const team = (uid: string) => ({ type: "Team" as const, uid });
    const user = (uid: string) => ({ type: "User" as const, uid });
    const all = listVisibleOwners(await readPerson(tia.key));
    expect(new Set(all)).toEqual(new Set([team(plane.team), team(plane.otherTeam), user(tia.uid)]));
    expect(listVisibleOwners(await readPerson(tia.key, plane.team))).toEqual([team(plane.team), user(tia.uid)]);
    expect(listVisibleOwners(bot)).toEqual([team(plane.team)]);
    const owners = [
      team(plane.team),
      team(plane.otherTeam),
      user(plane.user),
      user(tia.uid),
      user(plane.team),
      team(plane.user),
    ];
    const sees = (principal: Principal) => owners.map((owner) => seesOwner(principal, owner));
    expect(sees(await readPerson(plane.key))).toEqual([true, false, true, false, false, false]);
    expect(sees(bot)).toEqual([true, false, false, false, false, false]);
    const run = await workingRun(plane);
    const ofRun = await authenticate(plane.started.find(({ run_id }) => run_id === run.run_id)?.key ?? "");
    expect(sees(ofRun)).toEqual(owners.map(() => false));
  });
});

describe("the owner of a new run", () => {
  const other: Owner = { type: "Team", uid: NOBODY };

  it("is the owner of its parent, for every principal", async () => {
    expect(resolveOwner({}, await readPerson(plane.key), { parent: other })).toEqual(other);
    const run = await workingRun(plane);
    const ofRun = await authenticate(plane.started.find(({ run_id }) => run_id === run.run_id)?.key ?? "");
    expect(resolveOwner({}, ofRun, { parent: other })).toEqual(other);
    expect(thrownBy(() => resolveOwner({}, ofRun))).toEqual(field("parent_run_id"));
  });

  it("is the team of an agent, which has no runs of its own", async () => {
    const bot = await readAgent((await plane.agent()).key);
    const team: Owner = { type: "Team", uid: plane.team };
    expect(resolveOwner({}, bot)).toEqual(team);
    expect(resolveOwner({ team: true }, bot)).toEqual(team);
    expect(resolveOwner({}, bot, { conversation: team })).toEqual(team);
    expect(thrownBy(() => resolveOwner({ team: false }, bot))).toEqual(field("team"));
  });

  it("is a person's named or only team, or the person if they are in no team or request it", async () => {
    const [person, inTwoTeams, inNoTeam] = [await readPerson(plane.key), await traveller(), await loner()];
    const [several, none] = [await readPerson(inTwoTeams.key), await readPerson(inNoTeam.key)];
    expect(resolveOwner({}, person)).toEqual({ type: "Team", uid: plane.team });
    expect(resolveOwner({ team: false }, person)).toEqual({ type: "User", uid: plane.user });
    const named = await readPerson(inTwoTeams.key, plane.otherTeam);
    expect(resolveOwner({}, named)).toEqual({ type: "Team", uid: plane.otherTeam });
    expect(resolveOwner({}, none)).toEqual({ type: "User", uid: inNoTeam.uid });
    expect(resolveOwner({}, await readPerson(inNoTeam.key, NOBODY))).toEqual(other);
    expect(thrownBy(() => resolveOwner({}, several))).toEqual(field("X-Team-Uid"));
    expect(thrownBy(() => resolveOwner({ team: true }, none))).toEqual(field("team"));
    const asIdentity = { team: false, agent_identity_uid: NOBODY };
    expect(thrownBy(() => resolveOwner(asIdentity, person))).toEqual(field("agent_identity_uid"));
  });

  it("is the owner of the continued conversation, and no other", async () => {
    const [person, inTwoTeams] = [await readPerson(plane.key), await traveller()];
    const several = await readPerson(inTwoTeams.key);
    const personal: Owner = { type: "User", uid: plane.user };
    const team: Owner = { type: "Team", uid: plane.team };
    expect(resolveOwner({}, person, { conversation: personal })).toEqual(personal);
    expect(resolveOwner({ team: false }, person, { conversation: personal })).toEqual(personal);
    expect(resolveOwner({}, several, { conversation: team })).toEqual(team);
    expect(resolveOwner({ team: true }, several, { conversation: team })).toEqual(team);
    const refused = field("conversation_id");
    expect(thrownBy(() => resolveOwner({ team: true }, person, { conversation: personal }))).toEqual(refused);
    expect(thrownBy(() => resolveOwner({ team: false }, person, { conversation: team }))).toEqual(refused);
    const named = await readPerson(inTwoTeams.key, plane.otherTeam);
    expect(thrownBy(() => resolveOwner({}, named, { conversation: team }))).toEqual(refused);
    const related = { parent: other, conversation: team };
    expect(thrownBy(() => resolveOwner({}, person, related))).toEqual(refused);
  });
});
