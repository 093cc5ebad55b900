import { toAttributes } from "#shared/table/attribute-codec.ts";
import { memoryTable } from "#shared/table/memory-table.ts";
import { memoryKeySetStore } from "#shared/vault/memory-key-set-store.ts";
import { tableVault } from "#shared/vault/secret-value-store.ts";
import { createVaultKeys } from "#shared/vault/vault-keys.ts";
import { createClient } from "../../support/client.ts";
import type { TestControlPlane } from "../../support/control-plane.ts";
import { createTestControlPlane } from "../../support/control-plane.ts";
import { createRun, deliver, workingRun } from "../../support/execution.ts";

/** Writes a table with the present code, and returns its items as DynamoDB has them, with the keys and ids that a test needs. */
export async function makeRelease() {
  const bare = memoryTable();
  const plane = await createTestControlPlane(bare);
  const user = createClient(plane);
  const post = async (path: string, body: object) => {
    const response = await user.post(path, body);
    if (response.status > 201) throw new Error(`POST ${path}: ${JSON.stringify(response.body)}`);
    return response.body;
  };
  // Releases before the vault in the table stored values as parameters; the vault in memory stands for them.
  await post("/agent/secrets", { name: "DEPLOY_TOKEN", value: "a-secret-in-a-parameter" });
  const former = [...plane.vault.values];
  const keySet = memoryKeySetStore();
  const vault = tableVault(bare, createVaultKeys(keySet, plane.ports.now), plane.vault);
  Object.assign(plane.ports, { vault });
  await post("/agent/secrets", { name: "NPM_TOKEN", value: "a-secret-in-the-table" });
  const secrets = [{ name: "DEPLOY_TOKEN" }, { name: "NPM_TOKEN" }];
  const environment = (await post("/agent/environments", { name: "Shop", variables: { GREETING: "hello" }, secrets }))
    .uid;
  const agent = await plane.agent();
  const schedule = await post("/agent/schedules", { name: "Nightly", cron_schedule: "0 3 * * *", prompt: "tidy up" });
  const hook = { name: "Ended runs", url: "https://hooks.example.com/runs", events: ["run.succeeded"] };
  const webhook = (await post("/agent/webhooks", hook)).uid;
  return {
    key: plane.key,
    agent_key: agent.key,
    team: plane.team,
    environment,
    identity: agent.uid,
    schedule: schedule.id,
    webhook,
    runs: await makeRuns(plane, environment, agent.key),
    former_secrets: former,
    vault_keys: await keySet.read(),
    items: bare.all().map((item) => toAttributes(item)),
  };
}

/** Formats a release as JSON, one item a line. */
export function formatRelease({ items, ...others }: Awaited<ReturnType<typeof makeRelease>>): string {
  const lines = items.map((item) => `    ${JSON.stringify(item)}`);
  return `${JSON.stringify(others, null, 2).slice(0, -2)},\n  "items": [\n${lines.join(",\n")}\n  ]\n}\n`;
}

/** Runs in different states. */
async function makeRuns(plane: TestControlPlane, environment: string, agentKey: string) {
  const user = createClient(plane);
  const labelled = {
    prompt: "fix the checkout",
    config: { environment_id: environment },
    metadata: { ticket: "SHOP-1" },
  };
  const ok = await workingRun(plane, labelled);
  await user.post(`/agent/runs/${ok.run_id}/followups`, { message: "and the tests" });
  await ok.beat();
  await ok.beat(1);
  await ok.messages(1, "done");
  await ok.finish();
  await ok.shutDown();
  await deliver(plane, "ends");
  const failed = await workingRun(plane, { prompt: "a failing task" });
  await failed.finish(false, "it did not work");
  await failed.shutDown();
  await user.post(`/agent/runs/${failed.run_id}/archive`, {});
  const parent = await workingRun(plane, { prompt: "split the work" }, agentKey);
  const child = await parent.client.post("/agent/runs", { prompt: "a part of the work" });
  const queued = await createRun(plane, { prompt: "wait" });
  const cancelled = await createRun(plane, { prompt: "never mind" });
  await user.post(`/agent/runs/${cancelled}/cancel`);
  return {
    ok: ok.run_id,
    failed: failed.run_id,
    parent: parent.run_id,
    child: child.body.run_id,
    queued,
    cancelled,
  };
}
