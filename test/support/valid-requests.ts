import { randomUUID } from "node:crypto";
import { keys } from "#shared/table/keys.ts";
import { CLAIM_STATE, claimInstallation, prepareClaim } from "./claim-installation.ts";
import { createClient, request } from "./client.ts";
import type { ResponseBody, TestControlPlane } from "./control-plane.ts";
import { allowPush, said } from "./execution.ts";
import type { Stage } from "./principals.ts";
import { nightly } from "./schedules.ts";

const snapshot = {
  mode: "checkpoint",
  generation: "turn-1",
  files: [{ filename: "workspace.tar.gz", mime_type: "application/gzip", size_bytes: 1, sha256: "1".repeat(64) }],
};

const TRUST_RULE = {
  issuer: "https://token.actions.githubusercontent.com",
  audience: "https://runyard.test",
  subject_pattern: "repo:acme/shop:*",
};

const PREPARED = { filename: "plan.txt", mime_type: "text/plain", size_bytes: 6 };
const TRIGGER = { name: "builds", kind: "webhook", prompt: "look into it" };
const REFERENCE = { reference_type: "issue", url: "https://tracker.test/T-1" };
const WEBHOOK = { url: "https://hooks.runyard.test/events" };

/** Routes that accept only what an OIDC issuer or a trigger's sender signed; tests of their own in test/api have one. */
export const ISSUER_ROUTES: ReadonlySet<string> = new Set([
  "POST /agent/token",
  "POST /hooks/github-app",
  "POST /hooks/{triggerUid}",
  "POST /session/oidc",
]);

/** A valid body for each route that takes one, about the stage's run. */
export const bodies: Readonly<Record<string, (stage: Stage) => unknown>> = {
  "POST /agent/runs": () => ({ prompt: "hello" }),
  "POST /agent/run": () => ({ prompt: "hello" }),
  "POST /mcp": () => ({
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name: "start_run", arguments: { prompt: "hello" } },
  }),
  "POST /agent/runs/{runId}/share": () => ({ public_access: "VIEWER" }),
  "POST /agent/runs/delete": () => ({ filter: { state: ["SUCCEEDED"] } }),
  "POST /agent/runs/archive": () => ({ all: true }),
  "POST /agent/runs/unarchive": () => ({ all: true }),
  "POST /agent/runs/cancel": () => ({ filter: { state: ["QUEUED"] } }),
  "POST /agent/runs/{runId}/followups": () => ({ message: "more" }),
  "PUT /agent/runs/{runId}/followups/{followupId}": () => ({ message: "less" }),
  "POST /agent/conversations/{conversationId}/followups": () => ({ message: "more" }),
  "POST /agent/runs/{runId}/client-events": () => ({
    event_uuid: randomUUID(),
    event_name: "agent_started",
    timestamp: "2026-05-18T19:00:00Z",
  }),
  "POST /agent/attachments": () => ({
    file_name: "plan.txt",
    mime_type: "text/plain",
    size_bytes: 6,
    sha256: "5".repeat(64),
  }),
  "POST /agent/runs/{runId}/attachments/prepare": () => ({ files: [PREPARED] }),
  "POST /agent/conversations/{conversationId}/attachments/prepare": () => ({ files: [PREPARED] }),
  "POST /agent/runs/{runId}/attachments/download": () => ({ attachment_ids: [] }),
  "POST /agent/schedules": () => nightly,
  "PUT /agent/schedules/{scheduleId}": () => ({ ...nightly, enabled: true }),
  "POST /agent/github/installations": () => ({ installation_id: 2_000_001, state: CLAIM_STATE, code: "c0ffee" }),
  "POST /agent/identities": () => ({ name: "Reviewer" }),
  "PUT /agent/identities/{identityUid}": () => ({ description: "Reviews" }),
  "POST /agent/identities/{identityUid}/keys": () => ({ name: "laptop" }),
  "POST /agent/identities/{identityUid}/trust-rules": () => TRUST_RULE,
  "PUT /agent/identities/{identityUid}/trust-rules/{ruleUid}": () => TRUST_RULE,
  "POST /agent/token": () => ({ token: "a.b.c" }),
  "POST /agent/environments": () => ({ name: "Workshop" }),
  "PUT /agent/environments/{environmentUid}": () => ({ description: "Where the work is done" }),
  "POST /agent/environments/{environmentUid}/share": () => ({ link: true }),
  "DELETE /agent/environments/{environmentUid}/share": () => ({ link: true }),
  "POST /agent/keys": () => ({ name: "laptop" }),
  "POST /session": ({ plane }) => ({ key: plane.key }),
  "POST /session/oidc": () => ({ code: "c", state: "s", code_verifier: "v".repeat(43) }),
  "PUT /agent/me": () => ({ display_name: "Someone" }),
  "POST /agent/teams": () => ({ name: "Gamma" }),
  "PUT /agent/teams/{teamUid}": () => ({ name: "Omega" }),
  "PUT /agent/teams/{teamUid}/members/{userUid}": () => ({ role: "admin" }),
  "POST /agent/teams/{teamUid}/invitations": () => ({ email: "new@runyard.test" }),
  "POST /agent/triggers": () => TRIGGER,
  "PUT /agent/triggers/{triggerUid}": () => ({ enabled: false }),
  "POST /agent/triggers/{triggerUid}/test": () => ({ payload: { build: 1 } }),
  "POST /agent/webhooks": () => WEBHOOK,
  "PUT /agent/webhooks/{webhookUid}": () => ({ enabled: false }),
  "POST /agent/secrets": () => ({ name: "FRESH", value: "hush" }),
  "POST /harness-support/resolve-prompt": () => ({}),
  "POST /harness-support/heartbeat": ({ executionId }) => ({ execution_id: executionId, followups_stored: 0 }),
  "POST /harness-support/messages": ({ executionId }) => ({
    execution_id: executionId,
    first_sequence: 1,
    messages: [said("hello")],
  }),
  "POST /harness-support/live": ({ executionId }) => ({
    execution_id: executionId,
    frames: [{ action_id: "action-1", stream: "stdout", offset: 0, text: "line 1" }],
  }),
  "POST /harness-support/report-artifact": () => ({
    artifact_type: "FILE",
    data: { filepath: "b", filename: "b", mime_type: "text/plain", size_bytes: 1, sha256: "1".repeat(64) },
  }),
  "POST /harness-support/notify-user": () => ({ message: "half of it is done" }),
  "POST /harness-support/identity-token": () => ({ audience: "sts.amazonaws.com" }),
  "POST /harness-support/push-branch": () => ({ commit: "a".repeat(40), size_bytes: 1024, sha256: "b".repeat(64) }),
  "POST /harness-support/external-conversation": () => ({ format: "claude" }),
  "POST /harness-support/transcript": ({ runId }) => ({ conversation_id: runId }),
  "POST /harness-support/finish-task": () => ({ success: true, summary: "done" }),
  "POST /harness-support/upload-snapshot": () => snapshot,
  "POST /harness-support/commit-snapshot": () => ({ generation: snapshot.generation, files: [] }),
  "POST /harness-support/report-shutdown": () => ({}),
};

/** The route's path with the stage's ids, or another in the place of each. */
export function toTarget(route: string, stage: Stage, other?: string): string {
  const [, path = ""] = route.split(" ");
  const ids: Readonly<Record<string, string>> = {
    runId: stage.runId,
    conversationId: stage.runId,
    artifactUid: stage.artifactUid,
    scheduleId: stage.scheduleId,
    identityUid: stage.identityUid,
    teamUid: stage.plane.team,
    userUid: stage.memberUid,
    code: "conflict",
    name: "createRun",
    guide: "agent",
    ...Object.fromEntries(stage.made),
    keyUid: path.startsWith("/agent/keys/") ? stage.ownKeyUid : stage.identityKeyUid,
  };
  const target = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const id = other ?? ids[name];
    if (id === undefined) throw new Error(`there is no id for {${name}}`);
    return id;
  });
  if (path.endsWith("/run-by-external-reference")) return `${target}?url=${encodeURIComponent(REFERENCE.url)}`;
  return path.endsWith("/redeliver") ? `${target}?from_sequence=1` : target;
}

/** Creates what the route needs for a successful response. */
export async function prepare(route: string, stage: Stage): Promise<void> {
  if (/^GET \/agent\/(runs|conversations)\/.*\/transcript$/.test(route)) await stage.end();
  if (route.endsWith("/run-by-external-reference")) {
    const artifact = { artifact_type: "EXTERNAL_REFERENCE", data: REFERENCE };
    await createClient(stage.plane, stage.key("the run itself")).post("/harness-support/report-artifact", artifact);
  }
  if (route === "DELETE /agent/runs/{runId}" || route === "POST /agent/runs/delete") await stage.end();
  if (route.endsWith("/harness-support/transcript")) await writeRawTranscript(stage);
  if (route.endsWith("/redirect") || route.startsWith("GET /public/")) {
    const config = { session_sharing: { public_access: "VIEWER" } };
    const { body } = await createClient(stage.plane).post("/agent/runs", { prompt: "shown to all", config });
    stage.made.set("sessionId", body.run_id).set("conversationId", body.run_id);
  }
  if (route === "GET /public/runs/{sessionId}/artifacts/{artifactUid}") {
    await createClient(stage.plane).post(`/agent/runs/${stage.runId}/share`, { public_access: "VIEWER" });
    stage.made.set("sessionId", stage.runId);
  }
  if (route.endsWith("/commit-snapshot")) {
    for (const run of ["the run itself", "the run's parent", "another run of the team"] as const) {
      await createClient(stage.plane, stage.key(run)).post("/harness-support/upload-snapshot", snapshot);
    }
  }
  if (route.endsWith("/push-branch")) {
    const bodies = stage.plane.table.all().filter(({ sk }) => sk === keys.body("").sk);
    for (const { pk } of bodies) await allowPush(stage.plane, String(pk).replace(keys.body("").pk, ""));
  }
  if (route === "POST /agent/runs") {
    // Two runs that have ended, so that there is a latest one.
    const first = await endedRun(stage.plane, {});
    await endedRun(stage.plane, { conversation_id: first });
    stage.made.set("conversationId", first);
  }
  if (route.endsWith("/interrupt")) await nameHarness(stage);
  if (route.endsWith("/resume")) await createClient(stage.plane).post(`/agent/schedules/${stage.scheduleId}/pause`);
  if (route === "DELETE /agent/teams/{teamUid}") await emptyTeam(stage);
  if (route.includes("{environmentUid}")) {
    const { body } = await createClient(stage.plane).post("/agent/environments", { name: "Bench" });
    stage.made.set("environmentUid", body.uid);
  }
  if (route.includes("{followupId}")) {
    const path = `/agent/runs/${stage.runId}/followups`;
    const { body } = await createClient(stage.plane).post(path, { message: "more" });
    stage.made.set("followupId", body.followup_id);
  }
  if (route.includes("{ruleUid}")) {
    const rules = `/agent/identities/${stage.identityUid}/trust-rules`;
    const { body } = await createClient(stage.plane).post(rules, TRUST_RULE);
    stage.made.set("ruleUid", body.uid);
  }
  if (route.includes("{triggerUid}")) {
    const secret = "a-secret-of-the-ci";
    const bearer = { ...TRIGGER, verification: { scheme: "bearer" }, secret };
    const { body } = await createClient(stage.plane).post("/agent/triggers", bearer);
    stage.made.set("triggerUid", body.uid);
    const headers = { authorization: `Bearer ${secret}` };
    const sent = { key: undefined, body: { build: 1 }, headers };
    const { body: delivery } = await request(stage.plane, "POST", `/hooks/${body.uid}`, sent);
    stage.made.set("deliveryId", delivery.delivery_id);
  }
  if (route.startsWith("POST /agent/github/")) await prepareClaim(stage);
  if (route.includes("{installationId}")) {
    await claimInstallation(stage.plane, stage.plane.team);
    stage.made.set("installationId", "2000001");
  }
  if (route.includes("{webhookUid}")) {
    const { body } = await createClient(stage.plane).post("/agent/webhooks", WEBHOOK);
    stage.made.set("webhookUid", body.uid);
  }
  if (route.includes("{sessionUid}")) {
    const { body } = await createClient(stage.plane).get("/sessions");
    stage.made.set("sessionUid", body.sessions[0].uid);
  }
  if (route.includes("{secret}")) {
    await createClient(stage.plane).post("/agent/secrets", { name: "TOKEN", value: "hush" });
    stage.made.set("secret", "TOKEN");
  }
  if (route.includes("{invitationId}")) {
    await invite(stage, stage.plane.team, stage.plane.key);
  }
  // Into the other team, because members of a team cannot join it again.
  if (route.includes("{token}")) {
    await invite(stage, stage.plane.otherTeam, stage.plane.otherKey);
  }
}

async function endedRun(plane: TestControlPlane, more: object): Promise<string> {
  const { body } = await createClient(plane).post("/agent/runs", { prompt: "hello", ...more });
  await createClient(plane).post(`/agent/runs/${body.run_id}/cancel`);
  return body.run_id;
}

/** Makes the run's harness one that names its instance, as ours does, and so takes interrupts. */
async function nameHarness({ plane, runId }: Stage): Promise<void> {
  const named = { instance_id: "a harness of ours" };
  await plane.table.write({ kind: "update", key: keys.head(runId), set: named });
}

/** Makes the run's harness a third-party one that has stored its transcript. */
async function writeRawTranscript({ plane, runId, key }: Stage): Promise<void> {
  const harness = createClient(plane, key("the run itself"));
  await harness.post("/harness-support/external-conversation", { format: "claude" });
  const described = { conversation_id: runId, size_bytes: 3, sha256: "2".repeat(64) };
  const { body } = await harness.post("/harness-support/transcript", described);
  await plane.upload(body.url, "{}\n");
  await harness.post("/harness-support/transcript", described);
}

/** Invites somebody to a team. The stage keeps the id and token of the last invitation. */
export async function invite({ plane, made }: Stage, team: string, key: string): Promise<ResponseBody> {
  const response = await createClient(plane, key).post(`/agent/teams/${team}/invitations`, {
    email: "new@runyard.test",
  });
  if (response.status === 201)
    made.set("invitationId", response.body.id).set("token", response.body.link.split("/").at(-1));
  return response;
}

/** Removes what prevents a team's deletion: schedules, and runs that have not ended. */
export async function emptyTeam({ plane, scheduleId }: Stage): Promise<void> {
  const creator = createClient(plane);
  await creator.delete(`/agent/schedules/${scheduleId}`);
  const { body } = await creator.get("/agent/runs");
  for (const { run_id } of body.runs) await creator.post(`/agent/runs/${run_id}/cancel?force=true`);
}
