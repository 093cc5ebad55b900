import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { beforeEach, describe, expect, it } from "vitest";
import { readRunHead } from "#shared/records/read-run-heads.ts";
import { fromAttributes, toAttributes } from "#shared/table/attribute-codec.ts";
import { memoryTable } from "#shared/table/memory-table.ts";
import { INDEXES, type Item } from "#shared/table/table.ts";
import { memoryKeySetStore } from "#shared/vault/memory-key-set-store.ts";
import { memorySecretVault } from "#shared/vault/memory-secret-vault.ts";
import { tableVault } from "#shared/vault/secret-value-store.ts";
import { createVaultKeys } from "#shared/vault/vault-keys.ts";
import { type Client, createClient } from "../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { createHarness, createRun } from "../support/execution.ts";
import { formatRelease, makeRelease } from "./releases/make-release.ts";

const folder = join(import.meta.dirname, "releases");
const written = process.env["RUNYARD_RELEASE"];
if (written !== undefined) {
  writeFileSync(join(folder, `${written}.json`), formatRelease(await makeRelease()), { flag: "wx" });
}
const releases = readdirSync(folder).filter((name) => name.endsWith(".json"));

const Release = v.object({
  key: v.string(),
  agent_key: v.string(),
  team: v.string(),
  environment: v.string(),
  identity: v.string(),
  schedule: v.string(),
  webhook: v.string(),
  runs: v.object({
    ok: v.string(),
    failed: v.string(),
    parent: v.string(),
    child: v.string(),
    queued: v.string(),
    cancelled: v.string(),
  }),
  former_secrets: v.array(v.tuple([v.string(), v.string()])),
  vault_keys: v.string(),
  items: v.array(v.record(v.string(), v.unknown())),
});

describe.each(releases)("the table of the release %s", (name) => {
  const release = v.parse(Release, JSON.parse(readFileSync(join(folder, name), "utf8")));
  const { runs, environment, schedule } = release;
  const items: readonly Item[] = release.items.map(fromAttributes);
  const former = memorySecretVault();
  let plane: TestControlPlane;
  let user: Client;
  const read = async (path: string, client = user) => {
    const { status, body } = await client.get(path);
    expect(status, path).toBe(200);
    return body;
  };
  beforeEach(async () => {
    const bare = memoryTable();
    plane = await createTestControlPlane(bare);
    for (const item of items) await bare.write({ kind: "put", item });
    for (const [id, value] of release.former_secrets) former.values.set(id, value);
    const keySet = memoryKeySetStore();
    await keySet.create(release.vault_keys);
    Object.assign(plane.ports, { vault: tableVault(bare, createVaultKeys(keySet, plane.ports.now), former) });
    user = createClient(plane, release.key);
  });

  it("has items that are stored as they were read", () => {
    expect(items.map((item) => toAttributes(item))).toEqual(release.items);
    for (const { pk, sk } of Object.values(INDEXES)) expect(items.some((item) => pk in item && sk in item)).toBe(true);
  });

  it("has all of its runs, alone and in lists", async () => {
    const states = { ok: "SUCCEEDED", failed: "FAILED", parent: "INPROGRESS", child: "QUEUED" } as const;
    for (const [each, state] of Object.entries({ ...states, queued: "QUEUED", cancelled: "CANCELLED" })) {
      const id = v.parse(v.string(), Object(runs)[each]);
      const root = each === "child" ? runs.parent : id;
      expect(await read(`/agent/runs/${id}`)).toMatchObject({ state, root_run_id: root, archived: each === "failed" });
      expect(await readRunHead(id, plane.table)).toMatchObject({ run_id: id });
      expect((await read(`/agent/runs/${id}/timeline`)).events.length).toBeGreaterThan(0);
      await read(`/agent/runs/${id}/conversation`);
    }
    const find = async (query: string) =>
      (await read(`/agent/runs?${query}`)).runs.map(({ run_id }: { run_id: string }) => run_id).toSorted();
    const { failed, ...listed } = runs;
    expect(await find("limit=100")).toEqual(Object.values(listed).toSorted());
    expect(await find("archived=true")).toEqual([failed]);
    expect(await find("metadata[ticket]=SHOP-1")).toEqual([runs.ok]);
    expect(await find("q=checkout")).toEqual([runs.ok]);
    expect(await find("state=CANCELLED")).toEqual([runs.cancelled]);
    expect(await find(`ancestor_run_id=${runs.parent}`)).toEqual([runs.child]);
    expect(await find(`creator=${release.identity}`)).toEqual([runs.child, runs.parent].toSorted());
    expect((await read(`/agent/runs/${runs.ok}/followups`)).followups).toHaveLength(1);
  });

  it("continues its runs", async () => {
    expect((await user.post(`/agent/runs/${runs.ok}/followups`, { message: "again" })).status).toBe(200);
    const harness = createHarness(plane, await plane.dispatch(runs.queued));
    await harness.resolve();
    expect((await harness.finish()).status).toBe(200);
    expect((await user.post(`/agent/runs/${runs.child}/cancel`)).status).toBe(200);
  });

  it("has keys with all scopes, and the resources of the team", async () => {
    const { keys } = await read("/agent/keys");
    expect(keys.length).toBeGreaterThan(0);
    for (const { scopes } of keys) if (scopes !== undefined) expect(scopes).toContain("secrets");
    expect((await createClient(plane, release.agent_key).post("/agent/runs", { prompt: "hello" })).status).toBe(200);
    expect((await read(`/agent/environments/${environment}`)).config).toMatchObject({
      variables: { GREETING: "hello" },
    });
    expect(await read(`/agent/schedules/${schedule}`)).toMatchObject({ name: "Nightly", enabled: true });
    expect(await read(`/agent/identities/${release.identity}`)).toMatchObject({ name: "builder" });
    expect(await read(`/agent/webhooks/${release.webhook}`)).toMatchObject({ name: "Ended runs" });
    expect((await read(`/agent/audit?limit=100`)).events.length).toBeGreaterThan(5);
    expect((await user.put(`/agent/environments/${environment}`, { max_steps: 5 })).status).toBe(200);
    expect((await user.post(`/agent/schedules/${schedule}/pause`, {})).status).toBe(200);
  });

  it("has secrets that runs get, from parameters and from the table, where the next write moves them", async () => {
    const config = { environment_id: environment };
    const run = await createRun(plane, { prompt: "hello", config }, release.key);
    const { body } = await createHarness(plane, await plane.dispatch(run)).resolve();
    expect(body.context.secrets).toEqual([
      { name: "DEPLOY_TOKEN", value: "a-secret-in-a-parameter" },
      { name: "NPM_TOKEN", value: "a-secret-in-the-table" },
    ]);
    for (const [place] of release.former_secrets) {
      const id = place.slice(release.team.length + 1);
      await plane.ports.vault.put(release.team, id, "a-new-value");
      former.values.clear();
      expect(await plane.ports.vault.getAll(release.team, [id])).toEqual(new Map([[id, "a-new-value"]]));
    }
  });
});
