import { describe, expect, it } from "vitest";
import { artifactFacts, isUploaded, parseArtifact, toArtifactItem } from "#shared/records/artifact.ts";
import { noteUsage, readUsage, toRequestUsage } from "#shared/records/budget-account.ts";
import {
  BEGINNING,
  type Checkpoint,
  isLive,
  loadCheckpoint,
  loadCheckpoints,
  resetToCheckpoint,
} from "#shared/records/checkpoint.ts";
import { checkIdentityExists, hasIdentity } from "#shared/records/identity.ts";
import { parseAvailable, putRegister, register, unregister } from "#shared/records/identity-register.ts";
import { importStore } from "#shared/records/import-record.ts";
import { checkAdmin, checkMember, countCreatedKey, listMembers, putMember } from "#shared/records/member.ts";
import { toNanoUsd, toUsd } from "#shared/records/money.ts";
import { readRunHead, readRunHeads } from "#shared/records/read-run-heads.ts";
import { isMember, readTeamIdentity } from "#shared/records/read-team.ts";
import {
  deriveTitle,
  folded,
  heartbeatSeconds,
  isExecuting,
  isTerminal,
  statusText,
  toDuration,
} from "#shared/records/run.ts";
import { readBodies } from "#shared/records/run-body.ts";
import {
  executorOf,
  isExecutingHead,
  isLocal,
  isStopAwaited,
  leaseMs,
  parseOwner,
  parseRunHead,
  providerOf,
  readHead,
  readHeads,
  startLeaseMs,
  toCheckAttributes,
  toStatusMessage,
} from "#shared/records/run-head.ts";
import { transactInScope } from "#shared/records/scope-transaction.ts";
import { parseTeam, readTeam, toTeamItem } from "#shared/records/team.ts";
import { checkTrustRule, trustRuleKey } from "#shared/records/trust-rule.ts";
import {
  addFirstRole,
  addRole,
  foldEmail,
  parseUser,
  putUser,
  removeRole,
  replaceRole,
  toUserProfile,
  userByEmailKey,
} from "#shared/records/user.ts";
import { touchWebSession, webSessionExpiry, webSessionTimeToLive } from "#shared/records/web-session.ts";
import { keys } from "#shared/table/keys.ts";
import { memoryTable } from "#shared/table/memory-table.ts";
import type { Item, Table } from "#shared/table/table.ts";
import { ConflictError } from "#shared/table/transact.ts";
import { RunState } from "#shared/wire/run.ts";

const NOW = Date.parse("2026-05-18T19:00:00.000Z");
const RUN = "019e3c75-9780-7b78-8a54-7a196032b69b";
const MUST_EXIST = { pk: { exists: true } };

/** A run's head as it is stored. */
const storedHead = (more: Record<string, unknown> = {}, run = RUN): Item =>
  Object.assign({
    ...keys.head(run),
    v: 1,
    scope: "TEAM#t#0",
    updated_key: `${NOW}#${run}`,
    state: "QUEUED",
    p: { creator: "c", source: "API", location: "REMOTE" },
    ...more,
  });
const EXECUTION = { execution_id: "e", key_hash: "k", state_since: 1, heartbeat_at: 1 };
const parse = (more: Record<string, unknown> = {}) => parseRunHead(storedHead(more));
const executing = (more: Record<string, unknown> = {}) => {
  const head = parse({ state: "PENDING", ...EXECUTION, ...more });
  if (!isExecutingHead(head)) throw new Error("the run is not executing");
  return head;
};

describe("an artifact", () => {
  const common = { uid: "u", run_id: "r", execution_id: "e", committed_at: NOW };
  const uploaded = { mime_type: "image/png", size_bytes: 3, sha256: "s", file: "f" };
  const named = { artifact_uid: "u" };
  it.each([
    [
      { artifact_type: "PLAN", document_uid: "d", file: "f", digest: "x" },
      { document_uid: "d", ...named },
      { document_uid: "d" },
    ],
    [
      { artifact_type: "PLAN", document_uid: "d", file: "f", digest: "x", title: "T", url: "w", notebook_uid: "n" },
      { document_uid: "d", title: "T", url: "w", notebook_uid: "n", ...named },
      { document_uid: "d", title: "T" },
    ],
    [
      { artifact_type: "PULL_REQUEST", url: "w", branch: "b" },
      { url: "w", branch: "b", status: "unknown" },
      { url: "w", branch: "b" },
    ],
    [
      { artifact_type: "SCREENSHOT", ...uploaded },
      { mime_type: "image/png", ...named },
      { mime_type: "image/png", size_bytes: 3 },
    ],
    [
      { artifact_type: "SCREENSHOT", ...uploaded, description: "D" },
      { mime_type: "image/png", description: "D", ...named },
      { mime_type: "image/png", size_bytes: 3 },
    ],
    [
      { artifact_type: "FILE", ...uploaded, filepath: "a/b", filename: "b", title: "T" },
      { mime_type: "image/png", size_bytes: 3, filepath: "a/b", filename: "b", title: "T", ...named },
      { filepath: "a/b", size_bytes: 3, title: "T" },
    ],
    [
      { artifact_type: "EXTERNAL_REFERENCE", reference_type: "issue", url: "w", title: "T", metadata: { key: "1" } },
      { reference_type: "issue", url: "w", title: "T", metadata: { key: "1" } },
      { reference_type: "issue", url: "w", title: "T" },
    ],
  ])("%j is shown with its data, and its event with the facts", (stored, data, facts) => {
    const { artifact_type } = stored;
    const artifact = parseArtifact({ pk: "p", sk: "s", ...common, ...stored });
    expect(toArtifactItem(artifact)).toEqual({ artifact_type, created_at: "2026-05-18T19:00:00.000Z", data });
    expect(artifactFacts(artifact)).toEqual({ ...named, artifact_type, ...facts });
    expect(isUploaded(artifact)).toBe("sha256" in stored);
  });

  it("that is not committed has the time 1970-01-01", () => {
    const { committed_at: _, ...open } = common;
    const stored = { ...open, artifact_type: "PULL_REQUEST", url: "w", branch: "b" };
    expect(toArtifactItem(parseArtifact({ pk: "p", sk: "s", ...stored })).created_at).toBe("1970-01-01T00:00:00.000Z");
  });
});

describe("the usage of models", () => {
  it("is the sum of a run's calls, in dollars to the millionth", async () => {
    const table = memoryTable();
    await noteUsage("a", { cost: 1_499, tokens: 7 }, table);
    await noteUsage("a", { cost: 2_000, tokens: 5 }, table);
    const heads = [{ run_id: "a", b: true as const }, { run_id: "none" }, { run_id: "b", b: true as const }];
    const none = { cost: 0, tokens: 0, calls: 0 };
    const found = await readUsage(heads, table);
    expect(found).toEqual([{ cost: 3_499, tokens: 12, calls: 2 }, undefined, none]);
    expect(found.map((usage) => usage && toRequestUsage(usage))).toEqual([
      { inference_cost: 0.000003, inference_cost_usd: 0.000003, total_tokens: 12 },
      undefined,
      undefined,
    ]);
    expect([toNanoUsd(0.1234567891), toUsd(123_456_789)]).toEqual([123_456_789, 0.123456789]);
  });

  it("of many runs is read in batches of 100", async () => {
    const table = memoryTable();
    const sizes: number[] = [];
    const counting = {
      batchGet: (wanted: Parameters<Table["batchGet"]>[0]) => {
        sizes.push(wanted.length);
        return table.batchGet(wanted);
      },
    };
    for (const id of ["0", "100", "199"]) await noteUsage(id, { cost: 1, tokens: 1 }, table);
    const heads = Array.from({ length: 200 }, (_, index) => ({ run_id: `${index}`, b: true as const }));
    const found = await readUsage(heads, counting);
    expect(found.flatMap((usage, index) => (usage?.calls === 1 ? [index] : []))).toEqual([0, 100, 199]);
    expect(sizes).toEqual([100, 100]);
    expect(await readUsage([], counting)).toEqual([]);
    sizes.splice(0);
    const ids = heads.map(({ run_id }) => run_id);
    for (const id of ["3", "150"]) await table.write({ kind: "put", item: storedHead({}, id) });
    expect((await readRunHeads(ids, counting)).map(({ run_id }) => run_id)).toEqual(["3", "150"]);
    expect(sizes).toEqual([100, 100]);
    expect(await readRunHead("3", table)).toMatchObject({ run_id: "3" });
    expect(await readRunHead("4", table)).toBeUndefined();
  });
});

describe("a checkpoint", () => {
  const checkpoint: Checkpoint = { ...BEGINNING, messages: 4, followups: 1, superseded: [[2, 3]] };

  it("hides the messages after it from which the run continued", () => {
    expect([1, 2, 3, 4].map((number) => isLive(checkpoint, number))).toEqual([true, false, false, true]);
    expect(isLive(BEGINNING, 1)).toBe(true);
    const reset = (messages: number, from = checkpoint) => resetToCheckpoint(from, parse({ messages }));
    expect(reset(4)).toBeUndefined();
    expect(reset(5)).toEqual({
      ...checkpoint,
      superseded: [
        [2, 3],
        [5, 5],
      ],
    });
    expect(
      reset(9, {
        ...checkpoint,
        superseded: [
          [4, 4],
          [5, 7],
          [6, 8],
        ],
      }),
    ).toEqual({
      ...checkpoint,
      superseded: [
        [4, 4],
        [5, 9],
      ],
    });
  });

  it("is read only if the head says that there is one", async () => {
    const table = memoryTable();
    await table.write({ kind: "put", item: { ...keys.checkpoint(RUN), v: 1, ...checkpoint } });
    expect(await loadCheckpoint(parse(), { table })).toBe(BEGINNING);
    expect(await loadCheckpoint(parse({ checkpoint: true }), { table })).toEqual(checkpoint);
    expect(await loadCheckpoints(["none", RUN], { table })).toEqual([BEGINNING, checkpoint]);
    expect(await loadCheckpoints([], { table })).toEqual([]);
    const many = Array.from({ length: 150 }, (_, index) => `run-${index}`);
    const loaded = await loadCheckpoints([...many, RUN], { table });
    expect([loaded.length, loaded.at(-1)]).toEqual([151, checkpoint]);
    await table.write({ kind: "delete", key: keys.checkpoint(RUN) });
    expect(await loadCheckpoint(parse({ checkpoint: true }), { table })).toBe(BEGINNING);
  });
});

describe("the register of identities", () => {
  it("limits a team to the oldest ones of its plan", () => {
    const entries = Object.fromEntries(Array.from({ length: 25 }, (_, index) => [`identity:${50 - index}`, 1]));
    const item = { pk: "p", sk: "s", identities: 25, ...entries };
    expect(parseAvailable(undefined)).toEqual(new Set());
    expect(parseAvailable(item)).toEqual(new Set(Array.from({ length: 20 }, (_, index) => `${26 + index}`)));
    expect(parseAvailable({ ...item, identity_limit: 2 })).toEqual(new Set(["26", "27"]));
    expect(putRegister("t", "i", 7, undefined)).toEqual({
      kind: "put",
      item: { ...keys.identities("t"), v: 1, identities: 1, "identity:i": 7 },
    });
    expect(putRegister("t", "i", 7, 3).item).toMatchObject({ identity_limit: 3 });
    expect([register("t", "i", 7), unregister("t", "i")]).toEqual([
      {
        kind: "update",
        key: keys.identities("t"),
        set: { "identity:i": 7 },
        add: { identities: 1 },
        if: { identities: { belowAttribute: "identity_limit", otherwise: 20 } },
      },
      {
        kind: "update",
        key: keys.identities("t"),
        add: { identities: -1 },
        remove: ["identity:i"],
        if: { "identity:i": { exists: true } },
      },
    ]);
  });

  it("is read with the team and the identity", async () => {
    const table = memoryTable();
    const team = { uid: "t", name: "Alpha", created_at: 1 };
    const identity = { uid: "i", team_uid: "t", name: "builder", created_at: 1, updated_at: 2 };
    expect(await readTeamIdentity("t", "i", table)).toEqual({
      team: undefined,
      identity: undefined,
      isAvailable: false,
    });
    expect([await readTeam("t", table), await hasIdentity("t", "i", table)]).toEqual([undefined, false]);
    await table.write({ kind: "put", item: { ...keys.team("t"), v: 1, ...team } });
    await table.write({ kind: "put", item: { ...keys.identity("t", "i"), v: 1, ...identity } });
    await table.write(putRegister("t", "i", 7, undefined));
    expect(await readTeamIdentity("t", "i", table)).toEqual({ team, identity, isAvailable: true });
    expect(await readTeamIdentity("t", undefined, table)).toEqual({ team, identity: undefined, isAvailable: false });
    await table.write({ kind: "update", key: keys.identities("t"), set: { identity_limit: 0 } });
    expect(await readTeamIdentity("t", "i", table)).toEqual({ team, identity, isAvailable: false });
    expect([await readTeam("t", table), await hasIdentity("t", "i", table)]).toEqual([team, true]);
    expect(checkIdentityExists("t", "i")).toEqual({ kind: "check", key: keys.identity("t", "i"), if: MUST_EXIST });
  });
});

describe("a team", () => {
  it("is shown with the defaults of its settings", () => {
    const team = { uid: "t", name: "Alpha", created_at: 1 };
    const given = {
      identity_limit: 1,
      concurrency_limit: 2,
      queue_limit: 3,
      default_model_id: "m",
      default_environment_id: "e",
      commit_author: "A <a@b>",
      budget_usd_month: 4,
      retention_days: 5,
      sharing_allowed: false,
      provider_keys: { anthropic: "OUR_KEY" },
    };
    expect(toTeamItem(parseTeam({ ...team, ...given }))).toEqual({ uid: "t", name: "Alpha", settings: given });
    expect(toTeamItem(parseTeam(team)).settings).toEqual({
      identity_limit: 20,
      concurrency_limit: 20,
      queue_limit: 1_000,
      default_model_id: null,
      default_environment_id: null,
      commit_author: null,
      budget_usd_month: null,
      retention_days: null,
      sharing_allowed: true,
      provider_keys: {},
    });
  });

  it("has members, who are read by their uid", async () => {
    const table = memoryTable();
    const person = (uid: string) => ({ uid, displayName: uid.toUpperCase(), email: `${uid}@runyard.test` });
    const member = { kind: "check", key: keys.member("t", "a") };
    expect([countCreatedKey("t", "a"), checkMember("t", "a"), checkAdmin("t", "a")]).toEqual([
      { kind: "update", key: keys.member("t", "a"), add: { keys_created: 1 }, if: MUST_EXIST },
      { ...member, if: MUST_EXIST },
      { ...member, if: { role: { eq: "admin" } } },
    ]);
    for (const uid of ["b", "a"]) await table.write(putMember("t", person(uid), "member", 7));
    await table.write(putMember("other", person("c"), "admin", 7));
    await expect(table.write(putMember("t", person("a"), "admin", 8))).rejects.toThrow();
    const shown = (uid: string) => ({
      user_uid: uid,
      role: "member",
      email: `${uid}@runyard.test`,
      display_name: uid.toUpperCase(),
      created_at: 7,
    });
    expect(await listMembers("t", table)).toEqual([shown("a"), shown("b")]);
    expect([await isMember("t", "a", table), await isMember("t", "c", table)]).toEqual([true, false]);
  });

  it("that is deleted gets no new objects, and a user always can", async () => {
    const table = memoryTable();
    const writes = { it: { kind: "put", item: { pk: "p", sk: "s" }, if: { pk: { exists: false } } } } as const;
    const inTeam = () => transactInScope({ type: "Team", uid: "t" }, writes, table);
    const isGone = { code: "conflict", retryable: true, detail: "the team is deleted; send the request again" };
    await expect(inTeam()).rejects.toMatchObject(isGone);
    await table.write({ kind: "put", item: { ...keys.team("t"), closed: true } });
    await expect(inTeam()).rejects.toMatchObject(isGone);
    await table.write({ kind: "put", item: { ...keys.team("t") } });
    await inTeam();
    await expect(inTeam()).rejects.toBeInstanceOf(ConflictError);
    await table.write({ kind: "delete", key: { pk: "p", sk: "s" } });
    await transactInScope({ type: "User", uid: "t" }, writes, table);
    expect(await table.get({ pk: "p", sk: "s" })).toBeDefined();
  });
});

describe("a user", () => {
  const person = { uid: "u", displayName: "Ada", email: "ada@runyard.test" };

  it("has a role in each team, the oldest one first", () => {
    const { item, ...rest } = putUser(person, { b: "member", a: "admin" }, 7, "invitation");
    expect(rest).toEqual({ kind: "put", if: { pk: { exists: false } } });
    expect(item).toEqual({
      ...keys.user("u"),
      v: 1,
      uid: "u",
      display_name: "Ada",
      email: "ada@runyard.test",
      origin: "invitation",
      created_at: 7,
      "team:a": "admin",
      "team:b": "member",
    });
    const teams = [
      { uid: "a", role: "admin" },
      { uid: "b", role: "member" },
    ];
    expect(parseUser(item)).toEqual({ ...person, teams });
    expect(toUserProfile(person)).toEqual({
      type: "user",
      uid: "u",
      display_name: "Ada",
      email: "ada@runyard.test",
    });
  });

  it("gets, changes and loses a role under the condition of the one before", () => {
    const key = keys.user("u");
    const isNew = { "team:t": { exists: false } };
    expect([
      addFirstRole("t", "u"),
      addRole("t", "u", "member"),
      replaceRole("t", "u", "member", "admin"),
      removeRole("t", "u"),
    ]).toEqual([
      { kind: "update", key, set: { "team:t": "admin" }, if: MUST_EXIST },
      { kind: "update", key, set: { "team:t": "member" }, if: { ...MUST_EXIST, ...isNew } },
      { kind: "update", key, set: { "team:t": "admin" }, if: { "team:t": { eq: "member" } } },
      { kind: "update", key, remove: ["team:t"] },
    ]);
  });

  it("has one account for all spellings of an address", () => {
    expect(foldEmail(" Ａda@Runyard.TEST ")).toBe("ada@runyard.test");
    expect(userByEmailKey("ADA@runyard.test ")).toEqual(keys.userByEmail("ada@runyard.test"));
  });
});

describe("a trust rule, a web session and an import", () => {
  it("are written under conditions", () => {
    const rule = {
      uid: "r",
      team_uid: "t",
      identity_uid: "i",
      issuer: "https://issuer.test",
      audience: "a",
      subject_pattern: "*",
      ttl_seconds: 60,
      created_at: 1,
      updated_at: 2,
      saved_by: { type: "user", uid: "u", display_name: "Ada" },
    } as const;
    expect(trustRuleKey(rule)).toEqual(keys.trustRule("t", "i", "r"));
    expect(checkTrustRule(rule)).toEqual({
      kind: "check",
      key: keys.trustRule("t", "i", "r"),
      if: { updated_at: { eq: 2 } },
    });
  });

  it("end after 12 hours without use, or at their end", () => {
    const hours = (count: number) => count * 3_600_000;
    expect(webSessionExpiry({ last_used_at: NOW, ends_at: NOW + hours(13) })).toBe(NOW + hours(12));
    expect(webSessionExpiry({ last_used_at: NOW, ends_at: NOW + hours(11) })).toBe(NOW + hours(11));
    expect(webSessionTimeToLive({ last_used_at: NOW, ends_at: NOW + 1 })).toBe(NOW / 1000 + 1);
    const session = { uid: "s", user_uid: "u", hash: "h", created_at: 1, last_used_at: 1, ends_at: NOW + hours(24) };
    expect(touchWebSession(session, NOW)).toEqual({
      kind: "update",
      key: keys.webSession("u", "h"),
      set: { last_used_at: NOW, expires_at: NOW / 1000 + 43_200 },
      if: MUST_EXIST,
    });
  });

  it("are recognized when an import is repeated", async () => {
    const table = memoryTable();
    const store = importStore(table);
    expect(await store.read()).toBeUndefined();
    await store.begin("export", 1);
    expect(await store.read()).toEqual({ export_id: "export", begun_at: 1 });
    await expect(store.complete("another", 2)).rejects.toThrow();
    await store.complete("export", 2);
    expect(await store.read()).toEqual({ export_id: "export", begun_at: 1, completed_at: 2 });
    expect(table.all().map(store.isRecord)).toEqual([true]);
    expect(store.isRecord({ pk: "p", sk: keys.importRecord().sk })).toBe(false);
  });
});

describe("a run", () => {
  it.each([
    [undefined, undefined, "Untitled run"],
    ["", "acme/tools:lint", "acme/tools:lint"],
    ["\n ```sh\n# > * - Build  it \nnow", "skill", "Build  it"],
    ["# \n- second", undefined, "second"],
    ["a# b", undefined, "a# b"],
    ["x".repeat(120), undefined, "x".repeat(120)],
    ["😀".repeat(121), undefined, `${"😀".repeat(119)}…`],
  ])("with the prompt %j and the skill %j has the title %j", (prompt, skill, title) => {
    expect(deriveTitle(prompt, skill)).toBe(title);
  });

  it("has texts of limited length, and durations with milliseconds", () => {
    expect(statusText(" a \n\t b ")).toBe("a b");
    expect(statusText("x".repeat(1_024))).toBe("x".repeat(1_024));
    expect(statusText("😀".repeat(1_025))).toBe(`${"😀".repeat(1_023)}…`);
    expect(folded("ＡB")).toBe("ab");
    expect(folded("😀".repeat(201))).toBe("😀".repeat(200));
    expect([toDuration(0), toDuration(75_250)]).toEqual(["PT0.000S", "PT75.250S"]);
    expect([heartbeatSeconds(true), heartbeatSeconds(false)]).toEqual([5, 9]);
  });

  it("is executing or has ended, by its state", () => {
    const states = RunState.options;
    expect(states.filter(isExecuting).toSorted()).toEqual(["CLAIMED", "INPROGRESS", "PENDING"]);
    expect(states.filter(isTerminal).toSorted()).toEqual(["BLOCKED", "CANCELLED", "ERROR", "FAILED", "SUCCEEDED"]);
  });
});

describe("the head of a run", () => {
  it("has the id, the owner and the times of its keys, and counters of 0", async () => {
    const head = parse();
    expect(head).toMatchObject({
      run_id: RUN,
      created_at: NOW,
      updated_at: NOW,
      messages: 0,
      losses: 0,
      executions: 0,
    });
    expect(head).not.toHaveProperty("stops");
    expect(parseOwner(head)).toEqual({ type: "Team", uid: "t" });
    expect(parseOwner(parse({ scope: "USER#u#0" }))).toEqual({ type: "User", uid: "u" });
    const table = memoryTable();
    await table.write({ kind: "put", item: storedHead() });
    expect([await readHead(RUN, table), await readHead("none", table)]).toEqual([head, undefined]);
    expect(await readHeads(["none", RUN], table)).toEqual([undefined, head]);
    expect(await readBodies([RUN], table)).toEqual([undefined]);
    expect(toCheckAttributes("x-0001", 7)).toEqual({ check_shard: "RUNS#1", check_at: "0000000000007" });
    expect(toStatusMessage("internal_error", "m")).toEqual({
      message: "m",
      error_code: "internal_error",
      retryable: true,
    });
  });

  it("says who executes the run, and whether its stop is awaited", () => {
    expect([executorOf(parse().p), executorOf({ ...parse().p, executor: "x" })]).toEqual(["c", "x"]);
    expect([isLocal(parse()), isLocal(parse({ p: { ...parse().p, location: "LOCAL" } }))]).toEqual([false, true]);
    const ended = { state: "CANCELLED", ended_at: 1 };
    const awaited = [
      parse(),
      parse(ended),
      parse({ ...ended, stop_pending: false }),
      parse({ ...ended, stop_pending: true }),
    ];
    expect(awaited.map(isStopAwaited)).toEqual([false, false, false, true]);
  });

  it("has a lease by its state and sandbox", () => {
    expect(leaseMs(executing())).toBe(30_000);
    expect(leaseMs(executing({ state: "CLAIMED" }))).toBe(60_000);
    expect(leaseMs(executing({ p: { ...parse().p, location: "LOCAL" } }))).toBe(120_000);
    expect(startLeaseMs(executing())).toBe(20_000);
    const leases = (["lambda", "process", "microvm", "fargate", "worker"] as const).map((provider) =>
      startLeaseMs(executing({ sandbox: { provider } })),
    );
    expect(leases).toEqual([20_000, 20_000, 60_000, 180_000, 30_000]);
  });

  it("names the provider of its sandbox, unless that is a function", () => {
    expect(providerOf(executing())).toBe("lambda");
    expect(providerOf(executing({ sandbox: { provider: "process" } }))).toBe("process");
    expect(providerOf(parse({ state: "CANCELLED", ended_at: 1 }))).toBe("lambda");
  });
});
