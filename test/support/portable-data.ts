import { createHash } from "node:crypto";
import { expect } from "vitest";
import { routes } from "#infra/routes.ts";
import { eventually } from "../server/support/eventually.ts";
import { commands, createRun, type Served, waitForState } from "../server/support/served.ts";
import { findRoute } from "./client.ts";

/** What is created by `fillServer`. */
export type PortableData = Awaited<ReturnType<typeof fillServer>>;

/** Creates one of each kind of resource that an export contains, and a secret, which it does not. */
export async function fillServer(server: Served) {
  const run = await createRun(server, 'echo hello; echo content > "$RUNYARD_OUTPUT/file.txt"');
  const create = async (target: string, body: unknown) => {
    const response = await server.call("POST", target, body);
    expect([200, 201], JSON.stringify(response.body)).toContain(response.status);
    return response.body;
  };
  const me = (await server.call("GET", "/agent/me")).body;
  const team = String(me.teams[0].uid);
  const failed = await create("/agent/runs", {
    prompt: commands("exit 3"),
    config: { model_id: "local/runbook", name: "failing" },
    metadata: { team: "red" },
  });
  const schedule = await create("/agent/schedules", {
    name: "nightly",
    cron_schedule: "0 3 * * *",
    prompt: commands("true"),
    time_zone: "Europe/Berlin",
  });
  await create("/agent/secrets", { name: "DEPLOY_TOKEN", value: "a-very-secret-value" });
  const environment = await create("/agent/environments", { name: "python", setup_commands: ["true"] });
  const identity = await create("/agent/identities", { name: "bot" });
  const rule = await create(`/agent/identities/${identity.uid}/trust-rules`, {
    issuer: "https://token.actions.githubusercontent.com",
    audience: "https://ci.example.com",
    subject_pattern: "repo:acme/shop:*",
  });
  await create(`/agent/identities/${identity.uid}/keys`, { name: "ci" });
  await create(`/agent/teams/${team}/invitations`, { email: "new@example.com" });
  await waitForState(server, failed.run_id, "FAILED");
  const { artifacts, conversation_id } = await waitForState(server, run, "SUCCEEDED");
  // The transcript is composed after the run's last state.
  for (const id of [run, failed.run_id]) {
    await eventually(async () => expect((await server.call("GET", `/agent/runs/${id}/transcript`)).status).toBe(302));
  }
  return {
    ...{ run, team, conversation: String(conversation_id), failed: String(failed.run_id) },
    artifact: String(artifacts[0].data.artifact_uid),
    schedule: String(schedule.id),
    environment: String(environment.uid ?? environment.id),
    identity: String(identity.uid),
    rule: String(rule.uid),
  };
}

/** Routes whose responses do not depend on what an export contains. */
const OTHERS = [
  /^\/docs/,
  /^\/llms.txt$/,
  /^\/openapi.json$/,
  /^\/\.well-known\//,
  // Secrets are not exported.
  /^\/agent\/secrets/,
  // Nor are triggers and webhooks, which have one, and claims of the App of another deployment.
  /^\/agent\/(github|triggers|webhooks)/,
  // The address that workers connect to, and those that are connected.
  /^\/agent\/connected-self-hosted-workers$/,
  // The models of the installation.
  /^\/agent\/models$/,
  // The issuer of the installation.
  /^\/session\/methods$/,
  // For keys of runs only.
  /^\/harness-support\//,
];

function listTargets(data: PortableData): readonly string[] {
  const { run, failed, team, conversation, artifact, schedule, environment, identity, rule } = data;
  const targets = [
    ...["/agent/runs", "/agent/runs?q=content&state=SUCCEEDED", "/agent/runs?metadata[team]=red&sort_by=title"],
    ...[run, failed].flatMap((id) =>
      [
        "",
        "/timeline",
        "/conversation",
        "/transcript",
        "/events?after=0",
        "/response",
        "/handoff/attachments",
        "/followups",
      ].map((part) => `/agent/runs/${id}${part}`),
    ),
    ...["", `/artifacts/${artifact}`].map((part) => `/public/runs/${run}${part}`),
    "/agent/usage",
    ...["", "/redirect", "/transcript"].map((part) => `/agent/conversations/${conversation}${part}`),
    `/agent/sessions/${run}/redirect`,
    ...["", "/download"].map((part) => `/agent/artifacts/${artifact}${part}`),
    "/agent/run-by-external-reference?url=https://tracker.test/T-1",
    "/agent",
    ...["/agent/schedules", `/agent/schedules/${schedule}`, `/agent/schedules/${schedule}/ticks`],
    ...["/agent/identities", `/agent/identities/${identity}`, `/agent/identities/${identity}/keys`],
    ...[`/agent/identities/${identity}/trust-rules`, `/agent/identities/${identity}/trust-rules/${rule}`],
    ...["/agent/environments", `/agent/environments/${environment}`],
    ...["/agent/audit", "/agent/keys", "/session", "/sessions", "/agent/me", "/agent/teams"],
    ...["", "/members", "/invitations"].map((part) => `/agent/teams/${team}${part}`),
  ];
  const read = new Set(targets.map((target) => findRoute("GET", target.replace(/\?.*/, ""))?.route.path));
  const missing = routes.filter(
    ({ method, path }) => method === "GET" && !read.has(path) && !OTHERS.some((other) => other.test(path)),
  );
  expect(missing.map(({ path }) => path)).toEqual([]);
  return targets;
}

/** Routes for shared resources, for signed-in browsers and for references of runs, which may refuse the request. */
const REFUSED = [/^\/public\//, /^\/sessions?$/, /\/redirect$/, /\/run-by-external-reference/];

interface Response {
  readonly status: number;
  readonly body: unknown;
  readonly location: string | undefined;
}

/** Members that differ from one request to the next. */
const VOLATILE = new Set(["last_used_at", "trace_id"]);

/**
 * Reads every resource by every GET. Returns the responses by their targets, without the addresses of the installation;
 * in the place of a file's URL is the digest of its content.
 */
export async function readAll(
  data: PortableData,
  webUrl: string,
  get: (target: string) => Promise<Response>,
): Promise<Readonly<Record<string, unknown>>> {
  const found: Record<string, unknown> = {};
  for (const target of listTargets(data)) {
    const { status, body, location } = await get(target);
    const isRefused = REFUSED.some((pattern) => pattern.test(target));
    if (!isRefused) expect(status, `${target}: ${JSON.stringify(body)}`).toBeLessThan(400);
    found[target] = await toComparable({ status, body, ...(location === undefined ? {} : { location }) });
  }
  return found;

  async function toComparable(value: unknown): Promise<unknown> {
    if (typeof value === "string") return isFileUrl(value) ? readDigest(value) : value.replaceAll(webUrl, "");
    if (Array.isArray(value)) return Promise.all(value.map(toComparable));
    if (typeof value !== "object" || value === null) return value;
    // A URL of a file is made for each request.
    const isVolatile = (name: string) => VOLATILE.has(name) || (name === "expires_at" && "download_url" in value);
    const members = Object.entries(value).filter(([name]) => !isVolatile(name));
    return Object.fromEntries(
      await Promise.all(members.map(async ([name, member]) => [name, await toComparable(member)] as const)),
    );
  }
}

const isFileUrl = (text: string): boolean => /^https?:\/\/\S+(\/files\/|X-Amz-Signature=)\S*$/.test(text);

async function readDigest(url: string): Promise<string> {
  const response = await fetch(url);
  expect(response.status).toBe(200);
  const bytes = new Uint8Array(await response.arrayBuffer());
  return `${bytes.length} bytes, ${createHash("sha256").update(bytes).digest("hex")}`;
}
