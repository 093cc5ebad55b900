import type { Browser } from "playwright-core";
import { Runyard } from "../../../clients/typescript/src/index.ts";
import { Repository } from "../../harness/support/repository.ts";
import { client, commands, type ServiceAddress } from "../../support/api-client.ts";
import { takeCartPicture } from "./cart-picture.ts";
import { checkout, migration, retries, setupCommands, shopFiles, translation } from "./tasks.ts";

/** What the pictures show: ids, and the path of an invitation. */
export interface Scenes {
  readonly checkout: string;
  readonly session: string;
  readonly migration: string;
  readonly translation: string;
  readonly failed: string;
  readonly retries: string;
  readonly waiting: string;
  readonly schedule: string;
  readonly environment: string;
  readonly agent: string;
  readonly invitation: string;
}

type Api = ReturnType<typeof client>;
const RUNBOOK = { config: { model_id: "local/runbook" } };

/** Creates runs in every state, schedules, agents with keys, and invitations, through the API of a running service. */
export async function createScenes(service: ServiceAddress, browser: Browser): Promise<Scenes> {
  const api = client(service);
  const [team] = (await api.call("GET", "/agent/me")).body.teams;
  const { agent, agentKey } = await createAgents(api);
  const schedule = await createSchedules(api);
  const environment = await post(api, "/agent/environments", {
    name: "shop",
    description: "Node 24 with the packages of the shop",
    setup_commands: setupCommands,
  });
  await post(api, "/agent/secrets", { name: "NPM_TOKEN", value: "a value that no picture shows" });
  const ended = await createEndedRuns(api, client({ ...service, apiKey: agentKey }));
  const done = await createCheckout(service, environment.uid, browser);
  const thirdParty = await createRetries(api);
  await api.call("PUT", `/agent/teams/${team.uid}`, { settings: { concurrency_limit: 1 } });
  const running = await api.create(translation.prompt, { title: "Translate the release notes" });
  await api.until(running, ({ state }) => state === "INPROGRESS", 400);
  const waiting = await api.create(commands("echo later"), { title: "Rebuild the search index", ...RUNBOOK });
  await post(api, `/agent/teams/${team.uid}/invitations`, { email: "grace@example.com", role: "admin" });
  const { link } = await post(api, `/agent/teams/${team.uid}/invitations`, {
    email: "alan@example.com",
    role: "member",
  });
  return {
    ...ended,
    ...done,
    retries: thirdParty,
    waiting,
    translation: running,
    schedule,
    environment: environment.uid,
    agent,
    invitation: new URL(link).pathname,
  };
}

async function post(api: Api, target: string, body: unknown) {
  const reply = await api.call("POST", target, body);
  if (reply.status >= 300) throw new Error(`${target}: ${reply.status} ${JSON.stringify(reply.body)}`);
  return reply.body;
}

async function createAgents(api: Api): Promise<{ agent: string; agentKey: string }> {
  const release = await post(api, "/agent/identities", {
    name: "Release bot",
    description: "Deploys previews and writes release notes",
    prompt: "Never push to **main**. Deploy previews only from green builds.",
  });
  await post(api, "/agent/identities", {
    name: "Triage bot",
    description: "Labels new issues",
    base_model: "compatible/coder-small",
  });
  const { key } = await post(api, `/agent/identities/${release.uid}/keys`, { name: "GitHub Actions" });
  await post(api, `/agent/identities/${release.uid}/trust-rules`, {
    issuer: "https://token.actions.githubusercontent.com",
    audience: "https://runyard.example.com",
    subject_pattern: "repo:acme/shop:ref:refs/heads/main",
    max_budget_usd: 5,
    ttl_seconds: 1800,
  });
  await post(api, `/agent/identities/${release.uid}/trust-rules`, {
    issuer: "https://gitlab.com",
    audience: "https://runyard.example.com",
    subject_pattern: "project_path:acme/shop-infrastructure:ref_type:branch:ref:*",
  });
  const soon = new Date(Date.now() + 86_400_000 * 6).toISOString();
  await post(api, `/agent/identities/${release.uid}/keys`, { name: "Staging", expires_at: soon });
  await post(api, "/agent/keys", { name: "Laptop", expires_at: new Date(Date.now() + 86_400_000 * 90).toISOString() });
  return { agent: release.uid, agentKey: key };
}

async function createSchedules(api: Api): Promise<string> {
  const nightly = await post(api, "/agent/schedules", {
    name: "Nightly dependency updates",
    cron_schedule: "30 2 * * 1-5",
    time_zone: "Europe/Berlin",
    prompt: `Update the dependencies of the **shop**, run all tests, and open a pull request.\n\n${commands("echo updated")}`,
    agent_config: { model_id: "local/runbook" },
  });
  const weekly = await post(api, "/agent/schedules", {
    name: "Weekly security review",
    cron_schedule: "0 9 * * 1",
    prompt: "Review the changes of the week for security faults.",
  });
  await post(api, "/agent/schedules", {
    name: "Hourly smoke test",
    cron_schedule: "0 * * * *",
    prompt: "Open the shop and buy a kettle.",
  });
  await api.call("POST", `/agent/schedules/${weekly.id}/pause`);
  for (let count = 0; count < 3; count++) await post(api, `/agent/schedules/${nightly.id}/run`, {});
  return nightly.id;
}

/** Runs that end in each way. */
async function createEndedRuns(api: Api, bot: Api): Promise<Pick<Scenes, "failed" | "migration">> {
  const failed = await api.create(
    `Publish the packages.\n\n${commands("npm pack --dry-run 2>&1 | tail -3 || true", "echo 'error: 403 Forbidden' >&2; exit 7")}`,
    {
      title: "Publish the packages of release 4.2",
      metadata: { release: "4.2.0" },
      ...RUNBOOK,
    },
  );
  const cancelled = await api.create(commands("sleep 600"), { title: "Import the product feed", ...RUNBOOK });
  const deploy = await bot.create(commands("echo deployed"), {
    title: "Deploy the preview of pull request 1841",
    ...RUNBOOK,
  });
  const question = await api.create(migration.prompt, { title: "Archive the invoices of 2019" });
  await api.until(cancelled, ({ state }) => state === "INPROGRESS", 400);
  await api.call("POST", `/agent/runs/${cancelled}/cancel`);
  await Promise.all([failed, cancelled, deploy, question].map((run) => api.ended(run, 400)));
  return { failed, migration: question };
}

/** A run of a third-party agent that changes a repository. */
async function createRetries(api: Api): Promise<string> {
  using shop = new Repository("shop", shopFiles);
  const run = await api.create(retries.prompt, {
    title: "Retry the requests of the shop's clients",
    config: { harness: { type: "codex" }, repositories: [{ url: shop.url }] },
  });
  await api.ended(run, 400);
  return run;
}

/** A run with everything that a run can have. It is shared publicly. */
async function createCheckout(
  service: ServiceAddress,
  environment: string,
  browser: Browser,
): Promise<Pick<Scenes, "checkout" | "session">> {
  const { runs, attachments } = new Runyard({ baseURL: service.baseUrl, apiKey: service.apiKey });
  const picture = { file_name: "cart.png", mime_type: "image/png", data: await takeCartPicture(browser) };
  const { run_id } = await runs.create({
    prompt: checkout.prompt,
    title: "Fix the flaky voucher test of the checkout",
    metadata: { ticket: "SHOP-1790" },
    attachments: [{ attachment_id: await attachments.upload(picture) }],
    config: { environment_id: environment, budget_usd: 5, session_sharing: { public_access: "VIEWER" } },
  });
  const { session_id } = await client(service).ended(run_id, 400);
  return { checkout: run_id, session: session_id };
}
