import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as v from "valibot";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { client } from "../../support/api-client.ts";
import { startService, type TestService } from "../../support/service.ts";

const folder = join(import.meta.dirname, "../releases");
const releases = readdirSync(folder).flatMap((name) => /^(.*)\.tar\.gz$/.exec(name)?.[1] ?? []);

const Release = v.object({
  key: v.string(),
  agent_key: v.string(),
  environment: v.string(),
  identity: v.string(),
  schedule: v.string(),
  runs: v.object({ ok: v.string(), failed: v.string(), byAgent: v.string(), scheduled: v.string(), long: v.string() }),
});
const shell = (command: string) => `\`\`\`sh\n${command}\n\`\`\``;

describe.each(releases)("the data directory of the release of %s", (name) => {
  const release = v.parse(Release, JSON.parse(readFileSync(join(folder, `${name}.json`), "utf8")));
  const directory = mkdtempSync(join(tmpdir(), "runyard-upgrade-"));
  let service: TestService;
  const api = (apiKey = release.key) => client({ baseUrl: service.baseUrl, apiKey });
  const read = async (path: string) => {
    const { status, body } = await api().call("GET", path);
    expect(status, path).toBe(200);
    return body;
  };
  beforeAll(async () => {
    execFileSync("tar", ["-xzf", join(folder, `${name}.tar.gz`), "-C", directory]);
    service = await startService({ directory });
  });
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
    rmSync(directory, { recursive: true, force: true, maxRetries: 3 });
  });

  it("has all of its runs, with what later releases add to them", async () => {
    const { runs } = await read("/agent/runs?limit=100");
    const ids = Object.values(release.runs);
    expect(runs.map(({ run_id }: { run_id: string }) => run_id)).toEqual(expect.arrayContaining(ids));
    for (const id of ids) {
      const run = await read(`/agent/runs/${id}`);
      const state = id === release.runs.failed ? "FAILED" : "SUCCEEDED";
      expect(run).toMatchObject({ state, root_run_id: id, archived: false, pending_followups: 0 });
      expect(run.finished_at).toEqual(expect.any(String));
      expect((await read(`/agent/runs/${id}/conversation`)).steps.length).toBeGreaterThan(0);
      expect((await read(`/agent/runs/${id}/timeline`)).events.length).toBeGreaterThan(0);
    }
    expect((await read(`/agent/runs/${release.runs.long}`)).prompt.length).toBeGreaterThan(50_000);
    // The newest first: a schedule that has been due since the release starts one more as soon as the service is up.
    const scheduled = (await read(`/agent/runs?schedule_id=${release.schedule}`)).runs;
    expect(scheduled.at(-1)).toMatchObject({ run_id: release.runs.scheduled });
    expect((await read("/agent/runs?metadata[ticket]=SHOP-1")).runs).toMatchObject([{ run_id: release.runs.ok }]);
    expect((await read("/agent/runs?q=failing")).runs).toMatchObject([{ run_id: release.runs.failed }]);
  });

  it("has the artifacts of its runs, and continues their workspaces with follow-ups", async () => {
    const { ok } = release.runs;
    const [artifact] = (await read(`/agent/runs/${ok}`)).artifacts;
    const { data } = await read(`/agent/artifacts/${artifact.data.artifact_uid}`);
    expect(await (await fetch(data.download_url)).text()).toBe("hello\n");
    expect((await read(`/agent/runs/${ok}/followups`)).followups).toMatchObject([{ state: "delivered" }]);
    const message = shell('test "$DEPLOY_TOKEN" = a-secret-of-the-old-release && test "$GREETING" = hello');
    expect((await api().call("POST", `/agent/runs/${ok}/followups`, { message })).status).toBe(200);
    expect(
      await api().until(ok, ({ state, pending_followups }) => state === "SUCCEEDED" && pending_followups === 0),
    ).toMatchObject({ state: "SUCCEEDED" });
    expect((await read(`/agent/runs/${ok}/followups`)).followups).toHaveLength(2);
  });

  it("has keys with all scopes, and secrets that new runs get", async () => {
    const { keys } = await read("/agent/keys");
    expect(keys.map(({ scopes }: { scopes?: unknown }) => scopes ?? "all")).toEqual(
      keys.map(() => expect.toSatisfy((scopes) => scopes === "all" || scopes.includes("secrets"))),
    );
    const config = { environment_id: release.environment };
    const prompt = shell('test "$DEPLOY_TOKEN" = a-secret-of-the-old-release');
    const created = await api(release.agent_key).create(prompt, { config });
    expect(await api().ended(created)).toMatchObject({ state: "SUCCEEDED", executor: { uid: release.identity } });
  });

  it("has the environment and the schedule, which can be changed", async () => {
    const environment = `/agent/environments/${release.environment}`;
    expect((await read(environment)).config).toMatchObject({
      name: "Shop",
      variables: { GREETING: "hello" },
      secrets: [{ name: "DEPLOY_TOKEN" }],
    });
    expect((await api().call("PUT", environment, { max_steps: 5 })).status).toBe(200);
    const schedule = `/agent/schedules/${release.schedule}`;
    expect(await read(schedule)).toMatchObject({ name: "Nightly", enabled: true });
    expect((await api().call("POST", `${schedule}/pause`)).status).toBe(200);
  });
});
