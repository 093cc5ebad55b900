import { deflateRawSync } from "node:zlib";
import { PRIVILEGED_READS, type Scope } from "#shared/wire/keys/scope.ts";
import { listIndexes, type ReadRights, type Rights } from "./rights.ts";

/** The kinds of keys: of a person, of an agent, or of a run for itself and its descendants. */
export type Principal = "personal" | "agent" | "run";

/**
 * Who may call a route, and the one scope that a credential needs for it. The exceptions have names instead of a scope: `public`
 * routes need no credential, `own run` routes are the reports of a run about itself, `own session` routes are about the sign-in of the
 * request itself, which everybody may see and end, and each tool of the MCP server needs the scope of its endpoint (`each tool`).
 */
type Access =
  | { readonly who: "public"; readonly scope: "public" }
  | { readonly who: readonly Principal[]; readonly scope: Scope | "own run" | "own session" | "each tool" };

interface RouteBase {
  /** Path below /api/v1; `*` stands for all paths that no other line has. */
  readonly path: string;
  /** File in functions/ without its ending. Lines that name the same file are one function and have equal settings. */
  readonly file: string;
  /** True if the route also serves requests without a credential. A credential that a request has is always checked. */
  readonly keyOptional?: true;
  /** Function's name after `runyard-`; by default the file's verb-noun. Needed only where two resources share one. */
  readonly name?: string;
  /** Seconds; 10 by default, at most 30, the limit of API Gateway. */
  readonly timeoutSeconds?: number;
  /** Megabytes; 512 by default. */
  readonly memoryMb?: number;
  /** True if Lambda omits its log line for successful invocations, as the endpoint does. */
  readonly quiet?: true;
  /** True if no traces are sent: X-Ray bills each, and these calls are the most frequent ones. */
  readonly untraced?: true;
  /** Reserved concurrency of this function, if the account has enough (see settings.ts). */
  readonly reserved?: number;
}

/** A GET writes nothing, so its type has no rights to write. */
export type Route = RouteBase &
  Access &
  (
    | { readonly method: "GET"; readonly rights: ReadRights }
    | { readonly method: "POST" | "PUT" | "DELETE"; readonly rights: Rights }
    | { readonly method: "ANY"; readonly path: "*"; readonly who: "public"; readonly rights: Record<string, never> }
  );

const everyone = ["personal", "agent", "run"] as const;
const runOnly = ["run"] as const;
/** A team's members and its agents. */
const team = ["personal", "agent"] as const;
/** Management operations, which agents may not call. */
const people = ["personal"] as const;

/** Authentication of any kind of caller; also needed where only one kind may call. */
const ask = ["GetItem", "BatchGetItem"] as const;
/** Reading items, including those of the principal. */
const read = [...ask, "Query"] as const;
/** A state transition of a run, besides reading it; each write of a transaction needs its own right. */
const write = ["PutItem", "UpdateItem"] as const;
/** Creating a resource of a team, which checks that the team still exists. */
const create = [...write, "ConditionCheckItem"] as const;
/** Reading a run's prompt; the prompt of a scheduled run is a file of its schedule. */
const prompts = ["prompt", "schedulePrompt"] as const;
const schedulePrompt = { GetObject: ["schedulePrompt"] } as const;
const send = ["SendMessage"] as const;
/** Reading the events of a run, with live output; the function that streams them has the same rights. */
export const readEvents = {
  table: read,
  bucket: { GetObject: ["messages"] },
  live: ["GetItem", "DeleteItem"],
  watch: ["UpdateItem"],
} as const;
/** Changing live output, which is one item a run. */
const changeLive = ["GetItem", "PutItem"] as const;

/** The indexes with runs by creation time: all runs, and those that have not ended. */
const byCreation = ["gsi2", "gsi5"] as const;

/** A change to a run that does not affect its executions, and returning the run. */
const keepRun = {
  who: team,
  scope: "runs:write",
  rights: { table: [...read, ...write], bucket: { GetObject: [...prompts, "followup"] } },
} as const;

/** The same for all runs that match a filter, without returning them. */
const keepMatchingRuns = {
  who: team,
  scope: "runs:write",
  rights: { table: [...read, ...write], indexes: byCreation },
  timeoutSeconds: 30,
} as const;

const createRun = {
  file: "runs/create-run",
  who: everyone,
  scope: "runs:write",
  rights: {
    table: [...read, ...write],
    bucket: { GetObject: ["upload", "prompt", "followup"], PutObject: ["prompt", "attachment"] },
    runsQueue: send,
    sandboxes: ["know"],
  },
  timeoutSeconds: 30,
} as const;

/** A follow-up; one that continues a cancelled run reads its last messages. */
const sendFollowup = {
  who: everyone,
  scope: "runs:write",
  rights: {
    table: [...read, ...write],
    bucket: { PutObject: ["followup", "followupAttachment"], GetObject: ["messages", "upload"] },
    runsQueue: send,
  },
} as const;

/** An interrupt changes only the run; its execution learns of it with its next heartbeat. */
const interrupt = { who: everyone, scope: "runs:write", rights: { table: [...read, ...write] } } as const;

/** A run without a prompt and attachments, so the bucket has no files of it. */
const tryEnvironment = {
  file: "environments/try-environment",
  who: team,
  scope: "environments:write",
  rights: { table: createRun.rights.table, runsQueue: send, sandboxes: createRun.rights.sandboxes },
} as const;

/** Setting a timer, and deleting it again if the schedule was not created after all. */
const setTimer = ["CreateSchedule", "UpdateSchedule", "DeleteSchedule"] as const;
const schedule = { table: [...ask, ...write, "DeleteItem"], timers: setTimer } as const;
const writeSchedule = {
  who: team,
  scope: "schedules:write",
  rights: { ...schedule, bucket: { ...schedulePrompt, PutObject: ["schedulePrompt"] } },
} as const;
/** Creating a schedule also counts the schedules of its scope. */
const makeSchedule = {
  who: team,
  scope: "schedules:write",
  rights: { ...writeSchedule.rights, table: [...schedule.table, "Query", "ConditionCheckItem"] },
} as const;
const enableSchedule = {
  who: team,
  scope: "schedules:write",
  rights: { ...schedule, bucket: schedulePrompt },
} as const;

/** One line per route, one file per function. */
// biome-ignore format: one route per line reads as a table.
const lines: readonly Route[] = [
  { method: "POST", path: "/agent/runs", ...createRun },
  { method: "POST", path: "/agent/run", ...createRun },
  { method: "GET", path: "/agent/runs", file: "runs/list-runs", who: everyone, scope: "runs:read", rights: { table: read, indexes: listIndexes, bucket: { GetObject: ["followup"] } }, timeoutSeconds: 30 },
  { method: "POST", path: "/agent/runs/cancel", file: "runs/cancel-runs", who: team, scope: "runs:write", rights: { table: [...read, ...write, "DeleteItem"], indexes: ["gsi5"], endsQueue: send }, timeoutSeconds: 30 },
  { method: "POST", path: "/agent/runs/delete", file: "runs/delete-runs", who: team, scope: "runs:write", rights: { table: [...read, ...write, "DeleteItem"], indexes: byCreation, runsQueue: send }, timeoutSeconds: 30 },
  { method: "POST", path: "/agent/runs/archive", file: "runs/archive-runs", ...keepMatchingRuns },
  { method: "POST", path: "/agent/runs/unarchive", file: "runs/unarchive-runs", ...keepMatchingRuns },
  { method: "GET", path: "/agent/runs/{runId}", file: "runs/get-run", who: everyone, scope: "runs:read", rights: { table: read, bucket: { GetObject: [...prompts, "followup"] } } },
  { method: "POST", path: "/agent/runs/{runId}/cancel", file: "runs/cancel-run", who: everyone, scope: "runs:write", rights: { table: [...read, ...write, "DeleteItem"], endsQueue: send } },
  { method: "DELETE", path: "/agent/runs/{runId}", file: "runs/delete-run", who: team, scope: "runs:write", rights: { table: [...read, ...write, "DeleteItem"], runsQueue: send }, timeoutSeconds: 30 },
  { method: "POST", path: "/agent/runs/{runId}/archive", file: "runs/archive-run", ...keepRun },
  { method: "POST", path: "/agent/runs/{runId}/share", file: "runs/share-run", who: team, scope: "runs:write", rights: { table: [...ask, ...write] } },
  { method: "POST", path: "/agent/runs/{runId}/unarchive", file: "runs/unarchive-run", ...keepRun },
  { method: "POST", path: "/agent/runs/{runId}/interrupt", file: "runs/interrupt-run", ...interrupt },
  { method: "POST", path: "/agent/runs/{runId}/followups", file: "runs/send-followup", ...sendFollowup },
  { method: "GET", path: "/agent/runs/{runId}/followups", file: "runs/list-followups", who: everyone, scope: "runs:read", rights: { table: read, bucket: { GetObject: ["followup"] } } },
  { method: "PUT", path: "/agent/runs/{runId}/followups/{followupId}", file: "runs/update-followup", who: everyone, scope: "runs:write", rights: { table: [...read, ...write], bucket: { PutObject: ["followup"] } } },
  { method: "DELETE", path: "/agent/runs/{runId}/followups/{followupId}", file: "runs/delete-followup", who: everyone, scope: "runs:write", rights: { table: [...read, ...write] } },
  { method: "POST", path: "/agent/runs/{runId}/followups/{followupId}/promote", file: "runs/promote-followup", who: everyone, scope: "runs:write", rights: { table: [...read, ...write], bucket: { GetObject: ["followup"] } } },
  { method: "GET", path: "/agent/runs/{runId}/timeline", file: "runs/get-timeline", who: everyone, scope: "runs:read", rights: { table: read } },
  { method: "GET", path: "/agent/runs/{runId}/conversation", file: "runs/get-conversation", name: "get-run-conversation", who: everyone, scope: "runs:read", rights: { table: read, bucket: { GetObject: [...prompts, "messages"] } } },
  { method: "GET", path: "/agent/runs/{runId}/transcript", file: "runs/get-transcript", who: everyone, scope: "runs:read", rights: { table: read, bucket: { GetObject: ["transcript", "rawTranscript"] } } },
  { method: "GET", path: "/agent/run-by-external-reference", file: "runs/find-run-by-reference", who: everyone, scope: "runs:read", rights: { table: read } },
  { method: "GET", path: "/agent/runs/{runId}/handoff/attachments", file: "runs/list-handoff-attachments", who: everyone, scope: "runs:read", rights: { table: ask, bucket: { GetObject: ["snapshot"] } } },
  { method: "GET", path: "/agent/runs/{runId}/events", file: "runs/list-events", who: everyone, scope: "runs:read", rights: readEvents, timeoutSeconds: 30, reserved: 200 },
  { method: "GET", path: "/agent/runs/{runId}/response", file: "runs/get-response", who: everyone, scope: "runs:read", rights: { table: read, bucket: { GetObject: ["messages"] } } },
  { method: "POST", path: "/agent/runs/{runId}/client-events", file: "runs/create-client-event", who: runOnly, scope: "own run", rights: { table: [...ask, ...write] } },

  { method: "GET", path: "/public/runs/{sessionId}", file: "public/get-public-run", who: "public", scope: "public", rights: { table: read, bucket: { GetObject: [...prompts, "messages"] } } },
  { method: "GET", path: "/public/runs/{sessionId}/artifacts/{artifactUid}", file: "public/download-public-artifact", who: "public", scope: "public", rights: { table: ["GetItem", "BatchGetItem"], bucket: { GetObject: ["artifact", "plan"] } } },
  { method: "GET", path: "/agent/audit", file: "audit/list-audit-events", who: people, scope: "audit", rights: { table: read, indexes: ["gsi2"] } },
  { method: "GET", path: "/agent/usage", file: "usage/get-usage", who: team, scope: "usage:read", rights: { table: read }, timeoutSeconds: 30 },

  { method: "GET", path: "/agent/conversations/{conversationId}", file: "conversations/get-conversation", who: everyone, scope: "runs:read", rights: { table: read, bucket: { GetObject: [...prompts, "messages"] } } },
  { method: "GET", path: "/agent/conversations/{conversationId}/transcript", file: "conversations/get-conversation-transcript", who: everyone, scope: "runs:read", rights: { table: read, bucket: { GetObject: ["transcript", "rawTranscript"] } } },
  { method: "POST", path: "/agent/conversations/{conversationId}/interrupt", file: "conversations/interrupt-conversation", ...interrupt },
  { method: "POST", path: "/agent/conversations/{conversationId}/followups", file: "conversations/send-conversation-followup", ...sendFollowup },
  { method: "GET", path: "/agent/conversations/{conversationId}/redirect", file: "conversations/redirect-conversation", who: "public", scope: "public", rights: { table: ["BatchGetItem", "Query"] } },
  { method: "GET", path: "/agent/sessions/{sessionId}/redirect", file: "sessions/redirect-session", who: "public", scope: "public", rights: { table: ["BatchGetItem"] } },
  { method: "POST", path: "/agent/attachments", file: "attachments/create-attachment", who: everyone, scope: "runs:write", rights: { table: [...ask, ...write], bucket: { PutObject: ["upload"] } } },
  { method: "POST", path: "/agent/runs/{runId}/attachments/prepare", file: "attachments/prepare-attachments", who: everyone, scope: "runs:write", rights: { table: [...ask, ...write], bucket: { PutObject: ["upload"] } } },
  { method: "POST", path: "/agent/conversations/{conversationId}/attachments/prepare", file: "attachments/prepare-conversation-attachments", who: everyone, scope: "runs:write", rights: { table: [...ask, ...write], bucket: { PutObject: ["upload"] } } },
  { method: "POST", path: "/agent/runs/{runId}/attachments/download", file: "attachments/download-attachments", who: everyone, scope: "runs:read", rights: { table: [...read, "UpdateItem"], bucket: { GetObject: ["attachment", "followupAttachment", "upload"] } } },
  { method: "GET", path: "/agent/artifacts/{artifactUid}", file: "artifacts/get-artifact", who: everyone, scope: "runs:read", rights: { table: read, bucket: { GetObject: ["artifact", "plan"] } } },
  { method: "GET", path: "/agent/artifacts/{artifactUid}/download", file: "artifacts/download-artifact", who: everyone, scope: "runs:read", rights: { table: read, bucket: { GetObject: ["artifact", "plan"] } } },
  { method: "GET", path: "/agent", file: "skills/list-agents", who: team, scope: "environments:read", rights: { table: read, indexes: ["gsi4"], bucket: { GetObject: ["skills"] }, discovery: ["InvokeFunction"] }, timeoutSeconds: 30, memoryMb: 1024 },
  { method: "GET", path: "/agent/connected-self-hosted-workers", file: "workers/list-workers", who: team, scope: "workers", rights: { table: read } },
  { method: "GET", path: "/agent/models", file: "models/list-models", who: everyone, scope: "models:read", rights: { table: ask } },

  { method: "POST", path: "/agent/schedules", file: "schedules/create-schedule", ...makeSchedule },
  { method: "GET", path: "/agent/schedules", file: "schedules/list-schedules", who: team, scope: "schedules:read", rights: { table: read, bucket: schedulePrompt }, timeoutSeconds: 30 },
  { method: "GET", path: "/agent/schedules/{scheduleId}", file: "schedules/get-schedule", who: team, scope: "schedules:read", rights: { table: ask, bucket: schedulePrompt } },
  { method: "PUT", path: "/agent/schedules/{scheduleId}", file: "schedules/update-schedule", ...writeSchedule },
  { method: "DELETE", path: "/agent/schedules/{scheduleId}", file: "schedules/delete-schedule", who: team, scope: "schedules:write", rights: { table: [...ask, ...write, "DeleteItem"], timers: ["DeleteSchedule"] } },
  { method: "POST", path: "/agent/schedules/{scheduleId}/pause", file: "schedules/pause-schedule", ...enableSchedule },
  { method: "POST", path: "/agent/schedules/{scheduleId}/resume", file: "schedules/resume-schedule", ...enableSchedule },
  { method: "POST", path: "/agent/schedules/{scheduleId}/run", file: "schedules/run-schedule", who: team, scope: "schedules:write", rights: { table: [...ask, ...write], runsQueue: send, sandboxes: ["know"] } },
  { method: "GET", path: "/agent/schedules/{scheduleId}/ticks", file: "schedules/list-ticks", who: team, scope: "schedules:read", rights: { table: read } },

  { method: "POST", path: "/agent/github/claims", file: "github/create-installation-claim", who: people, scope: "triggers:write", rights: { table: [...ask, ...write], githubAppClient: ["GetParameter"] } },
  { method: "POST", path: "/agent/github/installations", file: "github/claim-installation", who: people, scope: "triggers:write", rights: { table: [...ask, ...create, "DeleteItem"], githubAppClient: ["GetParameter"] }, timeoutSeconds: 30 },
  { method: "GET", path: "/agent/github/installations", file: "github/list-installations", who: people, scope: "triggers:read", rights: { table: read } },
  { method: "DELETE", path: "/agent/github/installations/{installationId}", file: "github/release-installation", who: people, scope: "triggers:write", rights: { table: [...ask, "UpdateItem", "DeleteItem"] } },
  { method: "POST", path: "/agent/triggers", file: "triggers/create-trigger", who: people, scope: "triggers:write", rights: { table: [...read, ...create, "DeleteItem"], webhookSecretsKey: ["GetParameter", "PutParameter"], webhookSecrets: ["GetParameters", "DeleteParameter"] } },
  { method: "GET", path: "/agent/triggers", file: "triggers/list-triggers", who: people, scope: "triggers:read", rights: { table: read } },
  { method: "GET", path: "/agent/triggers/{triggerUid}", file: "triggers/get-trigger", who: people, scope: "triggers:read", rights: { table: read } },
  { method: "PUT", path: "/agent/triggers/{triggerUid}", file: "triggers/update-trigger", who: people, scope: "triggers:write", rights: { table: [...read, ...write] } },
  { method: "DELETE", path: "/agent/triggers/{triggerUid}", file: "triggers/delete-trigger", who: people, scope: "triggers:write", rights: { table: [...ask, ...write, "DeleteItem"], webhookSecrets: ["DeleteParameter"] } },
  { method: "POST", path: "/agent/triggers/{triggerUid}/pause", file: "triggers/pause-trigger", who: people, scope: "triggers:write", rights: { table: [...ask, ...write] } },
  { method: "POST", path: "/agent/triggers/{triggerUid}/resume", file: "triggers/resume-trigger", who: people, scope: "triggers:write", rights: { table: [...ask, ...write] } },
  { method: "POST", path: "/agent/triggers/{triggerUid}/rotate-secret", file: "triggers/rotate-trigger-secret", who: people, scope: "triggers:write", rights: { table: [...ask, ...write, "DeleteItem"], webhookSecretsKey: ["GetParameter", "PutParameter"], webhookSecrets: ["GetParameters", "DeleteParameter"] } },
  { method: "POST", path: "/agent/triggers/{triggerUid}/test", file: "triggers/test-trigger", who: people, scope: "triggers:write", rights: { table: [...ask, "UpdateItem"], sandboxes: ["know"] } },
  { method: "GET", path: "/agent/triggers/{triggerUid}/deliveries", file: "triggers/list-trigger-deliveries", who: people, scope: "triggers:read", rights: { table: read } },
  { method: "GET", path: "/agent/triggers/{triggerUid}/deliveries/{deliveryId}", file: "triggers/get-trigger-delivery", who: people, scope: "triggers:read", rights: { table: ask, bucket: { GetObject: ["triggerEvent"] } } },
  { method: "POST", path: "/agent/triggers/{triggerUid}/deliveries/{deliveryId}/redeliver", file: "triggers/redeliver-event", who: people, scope: "triggers:write", rights: { table: [...ask, ...write], bucket: { GetObject: ["triggerEvent"], PutObject: ["triggerEvent"] }, eventsQueue: send } },
  { method: "POST", path: "/hooks/github-app", file: "triggers/receive-app-event", who: "public", scope: "public", rights: { table: [...read, ...write, "DeleteItem"], bucket: { PutObject: ["triggerEvent"] }, eventsQueue: send, githubAppWebhook: ["GetParameter"] } },
  { method: "POST", path: "/hooks/{triggerUid}", file: "triggers/receive-event", who: "public", scope: "public", rights: { table: [...ask, "PutItem"], bucket: { PutObject: ["triggerEvent"] }, eventsQueue: send, webhookSecretsKey: ["GetParameter"], webhookSecrets: ["GetParameters"] } },

  { method: "POST", path: "/agent/identities", file: "identities/create-identity", who: people, scope: "identities:write", rights: { table: [...ask, ...create] } },
  { method: "GET", path: "/agent/identities", file: "identities/list-identities", who: team, scope: "identities:read", rights: { table: read } },
  { method: "GET", path: "/agent/identities/{identityUid}", file: "identities/get-identity", who: team, scope: "identities:read", rights: { table: ask } },
  { method: "PUT", path: "/agent/identities/{identityUid}", file: "identities/update-identity", who: people, scope: "identities:write", rights: { table: [...read, ...write, "DeleteItem"] } },
  { method: "DELETE", path: "/agent/identities/{identityUid}", file: "identities/delete-identity", who: people, scope: "identities:write", rights: { table: [...read, ...write, "DeleteItem", "ConditionCheckItem"], indexes: ["gsi1", "gsi7"], endsQueue: send }, timeoutSeconds: 30 },
  { method: "POST", path: "/agent/identities/{identityUid}/keys", file: "identities/create-identity-key", who: people, scope: "keys", rights: { table: [...ask, ...write, "ConditionCheckItem"] } },
  { method: "GET", path: "/agent/identities/{identityUid}/keys", file: "identities/list-identity-keys", who: team, scope: "keys", rights: { table: ask } },
  { method: "DELETE", path: "/agent/identities/{identityUid}/keys/{keyUid}", file: "identities/delete-identity-key", who: people, scope: "keys", rights: { table: [...ask, ...write, "DeleteItem"] } },

  { method: "POST", path: "/agent/identities/{identityUid}/trust-rules", file: "identities/create-trust-rule", who: people, scope: "keys", rights: { table: [...read, ...write, "ConditionCheckItem"] } },
  { method: "GET", path: "/agent/identities/{identityUid}/trust-rules", file: "identities/list-trust-rules", who: team, scope: "keys", rights: { table: read } },
  { method: "GET", path: "/agent/identities/{identityUid}/trust-rules/{ruleUid}", file: "identities/get-trust-rule", who: team, scope: "keys", rights: { table: ask } },
  { method: "PUT", path: "/agent/identities/{identityUid}/trust-rules/{ruleUid}", file: "identities/update-trust-rule", who: people, scope: "keys", rights: { table: [...ask, ...write, "DeleteItem"] } },
  { method: "DELETE", path: "/agent/identities/{identityUid}/trust-rules/{ruleUid}", file: "identities/delete-trust-rule", who: people, scope: "keys", rights: { table: [...ask, "UpdateItem", "DeleteItem"] } },
  { method: "POST", path: "/agent/token", file: "token/create-token", who: "public", scope: "public", rights: { table: [...read, ...write, "ConditionCheckItem"] }, timeoutSeconds: 20 },

  { method: "POST", path: "/agent/environments", file: "environments/create-environment", who: people, scope: "environments:write", rights: { table: [...read, ...create] } },
  { method: "GET", path: "/agent/environments", file: "environments/list-environments", who: team, scope: "environments:read", rights: { table: read } },
  { method: "GET", path: "/agent/environments/{environmentUid}", file: "environments/get-environment", who: team, scope: "environments:read", rights: { table: ask } },
  { method: "PUT", path: "/agent/environments/{environmentUid}", file: "environments/update-environment", who: people, scope: "environments:write", rights: { table: [...ask, ...write, "DeleteItem"] } },
  { method: "DELETE", path: "/agent/environments/{environmentUid}", file: "environments/delete-environment", who: people, scope: "environments:write", rights: { table: [...ask, "UpdateItem", "DeleteItem"] } },
  { method: "POST", path: "/agent/environments/{environmentUid}/share", file: "environments/share-environment", who: people, scope: "environments:write", rights: { table: [...ask, ...write] } },
  { method: "POST", path: "/agent/environments/{environmentUid}/try", ...tryEnvironment },
  { method: "DELETE", path: "/agent/environments/{environmentUid}/share", file: "environments/unshare-environment", who: people, scope: "environments:write", rights: { table: [...ask, "UpdateItem", "DeleteItem"] } },

  { method: "POST", path: "/agent/keys", file: "keys/create-key", who: people, scope: "keys", rights: { table: [...ask, ...write] } },
  { method: "GET", path: "/agent/keys", file: "keys/list-keys", who: people, scope: "keys", rights: { table: ask } },
  { method: "DELETE", path: "/agent/keys/{keyUid}", file: "keys/delete-key", who: people, scope: "keys", rights: { table: [...ask, ...write, "DeleteItem"] } },

  { method: "POST", path: "/session", file: "web-sessions/create-session", who: "public", scope: "public", rights: { table: [...read, ...write, "DeleteItem"] } },
  { method: "GET", path: "/session", file: "web-sessions/get-session", who: people, scope: "own session", rights: { table: ask } },
  { method: "PUT", path: "/session", file: "web-sessions/extend-session", who: people, scope: "own session", rights: { table: [...ask, "UpdateItem"] } },
  { method: "DELETE", path: "/session", file: "web-sessions/delete-session", who: people, scope: "own session", rights: { table: [...read, "UpdateItem", "DeleteItem"] } },
  { method: "POST", path: "/session/link", file: "web-sessions/create-sign-in-link", who: people, scope: "keys", rights: { table: [...ask, ...write] } },
  { method: "GET", path: "/session/methods", file: "web-sessions/get-sign-in-methods", who: "public", scope: "public", rights: {}, timeoutSeconds: 20 },
  { method: "POST", path: "/session/oidc", file: "web-sessions/exchange-code", who: "public", scope: "public", rights: { table: [...read, ...create, "DeleteItem"], signInIssuer: ["GetParameter"] }, timeoutSeconds: 20 },
  { method: "GET", path: "/sessions", file: "web-sessions/list-web-sessions", who: people, scope: "keys", rights: { table: read } },
  { method: "DELETE", path: "/sessions/{sessionUid}", file: "web-sessions/revoke-session", who: people, scope: "keys", rights: { table: [...read, "UpdateItem", "DeleteItem"] } },

  { method: "GET", path: "/agent/me", file: "me/get-me", who: people, scope: "teams:read", rights: { table: ask } },
  { method: "PUT", path: "/agent/me", file: "me/update-me", who: people, scope: "teams:write", rights: { table: [...ask, "UpdateItem"] } },

  { method: "POST", path: "/agent/teams", file: "teams/create-team", who: people, scope: "teams:write", rights: { table: [...ask, ...write] } },
  { method: "GET", path: "/agent/teams", file: "teams/list-teams", who: people, scope: "teams:read", rights: { table: ask } },
  { method: "GET", path: "/agent/teams/{teamUid}", file: "teams/get-team", who: people, scope: "teams:read", rights: { table: ask } },
  { method: "PUT", path: "/agent/teams/{teamUid}", file: "teams/update-team", who: people, scope: "teams:write", rights: { table: [...read, "UpdateItem", "DeleteItem"], runsQueue: send } },
  { method: "DELETE", path: "/agent/teams/{teamUid}", file: "teams/delete-team", who: people, scope: "teams:write", rights: { table: [...read, "UpdateItem", "DeleteItem", "ConditionCheckItem"], secrets: ["DeleteParameter"], webhookSecrets: ["DeleteParameter"] }, timeoutSeconds: 30 },
  { method: "GET", path: "/agent/teams/{teamUid}/members", file: "teams/list-members", who: people, scope: "teams:read", rights: { table: read } },
  { method: "PUT", path: "/agent/teams/{teamUid}/members/{userUid}", file: "teams/update-member", who: people, scope: "teams:write", rights: { table: [...ask, "UpdateItem"] } },
  { method: "DELETE", path: "/agent/teams/{teamUid}/members/{userUid}", file: "teams/remove-member", who: people, scope: "teams:write", rights: { table: [...read, ...write, "DeleteItem"] } },

  { method: "POST", path: "/agent/teams/{teamUid}/invitations", file: "invitations/create-invitation", who: people, scope: "teams:write", rights: { table: [...read, ...create] } },
  { method: "GET", path: "/agent/teams/{teamUid}/invitations", file: "invitations/list-invitations", who: people, scope: "teams:read", rights: { table: read } },
  { method: "DELETE", path: "/agent/teams/{teamUid}/invitations/{invitationId}", file: "invitations/delete-invitation", who: people, scope: "teams:write", rights: { table: [...ask, "UpdateItem", "DeleteItem"] } },
  { method: "POST", path: "/agent/invitations/{token}/accept", file: "invitations/accept-invitation", who: people, scope: "teams:write", keyOptional: true, rights: { table: [...ask, ...create, "DeleteItem"] } },

  { method: "POST", path: "/agent/secrets", file: "secrets/create-secret", who: people, scope: "secrets", rights: { table: [...read, ...create, "DeleteItem"], secretsKey: ["GetParameter", "PutParameter"], secrets: ["DeleteParameter"] } },
  { method: "GET", path: "/agent/secrets", file: "secrets/list-secrets", who: people, scope: "secrets", rights: { table: read } },
  { method: "GET", path: "/agent/secrets/{secret}", file: "secrets/get-secret", who: people, scope: "secrets", rights: { table: ask } },
  { method: "DELETE", path: "/agent/secrets/{secret}", file: "secrets/delete-secret", who: people, scope: "secrets", rights: { table: [...ask, "UpdateItem", "DeleteItem"], secrets: ["DeleteParameter"] } },

  { method: "POST", path: "/agent/webhooks", file: "webhooks/create-webhook", who: people, scope: "webhooks:write", rights: { table: [...read, ...create, "DeleteItem"], webhookSecretsKey: ["GetParameter", "PutParameter"], webhookSecrets: ["GetParameters", "DeleteParameter"] } },
  { method: "GET", path: "/agent/webhooks", file: "webhooks/list-webhooks", who: people, scope: "webhooks:read", rights: { table: read } },
  { method: "GET", path: "/agent/webhooks/{webhookUid}", file: "webhooks/get-webhook", who: people, scope: "webhooks:read", rights: { table: ask } },
  { method: "PUT", path: "/agent/webhooks/{webhookUid}", file: "webhooks/update-webhook", who: people, scope: "webhooks:write", rights: { table: [...ask, "UpdateItem"] } },
  { method: "DELETE", path: "/agent/webhooks/{webhookUid}", file: "webhooks/delete-webhook", who: people, scope: "webhooks:write", rights: { table: [...ask, "UpdateItem", "DeleteItem"], webhookSecrets: ["DeleteParameter"] } },
  { method: "POST", path: "/agent/webhooks/{webhookUid}/rotate-secret", file: "webhooks/rotate-webhook-secret", who: people, scope: "webhooks:write", rights: { table: [...ask, ...write, "DeleteItem"], webhookSecretsKey: ["GetParameter", "PutParameter"], webhookSecrets: ["GetParameters", "DeleteParameter"] } },
  { method: "GET", path: "/agent/webhooks/{webhookUid}/deliveries", file: "webhooks/list-deliveries", who: people, scope: "webhooks:read", rights: { table: read } },
  { method: "POST", path: "/agent/webhooks/{webhookUid}/redeliver", file: "webhooks/redeliver-webhook", who: people, scope: "webhooks:write", rights: { table: [...read, ...write] } },

  { method: "POST", path: "/harness-support/resolve-prompt", file: "harness/resolve-prompt", who: runOnly, scope: "own run", rights: { table: [...read, ...write], bucket: { GetObject: [...prompts, "messages", "followup", "followupAttachment", "attachment", "snapshot"] }, secretsKey: ["GetParameter"], secrets: ["GetParameters"], githubApp: ["GetParameter"], systems: ["InvokeFunction"] }, timeoutSeconds: 30 },
  { method: "POST", path: "/harness-support/heartbeat", file: "harness/heartbeat", who: runOnly, scope: "own run", rights: { table: [...read, "UpdateItem"], bucket: { GetObject: ["followup", "followupAttachment"] } }, reserved: 100, quiet: true, untraced: true },
  { method: "POST", path: "/harness-support/messages", file: "harness/append-messages", who: runOnly, scope: "own run", rights: { table: [...ask, ...write], bucket: { PutObject: ["messages"] }, endsQueue: send, live: changeLive }, reserved: 100, untraced: true },
  { method: "POST", path: "/harness-support/live", file: "harness/record-live-output", who: runOnly, scope: "own run", rights: { table: [...ask, ...write], live: changeLive }, quiet: true, untraced: true },
  { method: "POST", path: "/harness-support/report-artifact", file: "harness/report-artifact", who: runOnly, scope: "own run", rights: { table: [...ask, ...write, "ConditionCheckItem"], bucket: { GetObject: ["artifact"], PutObject: ["artifact", "plan"] } } },
  { method: "POST", path: "/harness-support/notify-user", file: "harness/notify-user", who: runOnly, scope: "own run", rights: { table: [...ask, ...write] } },
  { method: "POST", path: "/harness-support/finish-task", file: "harness/finish-task", who: runOnly, scope: "own run", rights: { table: [...read, ...write, "DeleteItem"], bucket: { GetObject: ["artifact", "rawTranscript", "followup", "followupAttachment"], PutObject: ["rawTranscript", "messages"] }, runsQueue: send, endsQueue: send, live: changeLive }, reserved: 50 },
  { method: "POST", path: "/harness-support/upload-snapshot", file: "harness/upload-snapshot", who: runOnly, scope: "own run", rights: { table: [...ask, ...write], bucket: { PutObject: ["snapshot"] } } },
  { method: "POST", path: "/harness-support/commit-snapshot", file: "harness/commit-snapshot", who: runOnly, scope: "own run", rights: { table: [...ask, ...write], bucket: { GetObject: ["snapshot"], PutObject: ["snapshot"] } } },
  { method: "POST", path: "/harness-support/external-conversation", file: "harness/create-external-conversation", who: runOnly, scope: "own run", rights: { table: [...ask, ...write] } },
  { method: "POST", path: "/harness-support/transcript", file: "harness/upload-transcript", who: runOnly, scope: "own run", rights: { table: [...ask, ...write], bucket: { GetObject: ["rawTranscript"], PutObject: ["rawTranscript"] } } },
  { method: "GET", path: "/harness-support/transcript", file: "harness/get-raw-transcript", who: runOnly, scope: "own run", rights: { table: ask, bucket: { GetObject: ["rawTranscript"] } } },
  { method: "POST", path: "/harness-support/identity-token", file: "harness/create-identity-token", who: runOnly, scope: "own run", rights: { table: [...ask, ...write], identityKeys: ["GetParameter", "PutParameter"] } },
  { method: "POST", path: "/harness-support/push-branch", file: "harness/push-branch", who: runOnly, scope: "own run", rights: { table: [...ask, ...write], bucket: { GetObject: ["pack"], PutObject: ["pack"] }, systems: ["InvokeFunction"] }, timeoutSeconds: 30 },
  { method: "POST", path: "/harness-support/report-shutdown", file: "harness/report-shutdown", who: runOnly, scope: "own run", rights: { table: [...ask, ...write, "DeleteItem"], runsQueue: send, endsQueue: send } },

  { method: "GET", path: "/.well-known/openid-configuration", file: "run-identity/get-openid-configuration", who: "public", scope: "public", rights: {} },
  { method: "GET", path: "/.well-known/jwks.json", file: "run-identity/list-signing-keys", who: "public", scope: "public", rights: { identityKeys: ["GetParameter"] } },
  { method: "POST", path: "/mcp", file: "mcp/send-message", who: everyone, scope: "each tool", rights: { table: [...read, ...write, "DeleteItem"], indexes: listIndexes, bucket: { GetObject: [...prompts, "messages", "followup", "artifact", "plan"], PutObject: ["prompt", "followup"] }, runsQueue: send, endsQueue: send, sandboxes: ["know"] }, timeoutSeconds: 30 },

  { method: "GET", path: "/openapi.json", file: "docs/get-openapi", who: "public", scope: "public", rights: {} },
  { method: "GET", path: "/docs", file: "docs/get-reference", who: "public", scope: "public", rights: {} },
  { method: "GET", path: "/docs/reference/{name}", file: "docs/get-reference-page", who: "public", scope: "public", rights: {} },
  { method: "GET", path: "/docs/guides/{guide}", file: "docs/get-guide", who: "public", scope: "public", rights: {} },
  { method: "GET", path: "/llms.txt", file: "docs/list-pages", who: "public", scope: "public", rights: {} },
  { method: "GET", path: "/docs/errors", file: "docs/list-errors", who: "public", scope: "public", rights: {} },
  { method: "GET", path: "/docs/errors/{code}", file: "docs/get-error-page", who: "public", scope: "public", rights: {} },

  { method: "ANY", path: "*", file: "fallback/not-found", who: "public", scope: "public", rights: {} },
];

/** The API's table of contents. */
export const routes: readonly Route[] = lines.map(withAuditRights);

/** Adds the rights to record what a request changes, or that it is refused, in the audit log. */
function withAuditRights(route: Route): Route {
  if (route.method === "GET" && PRIVILEGED_READS.includes(route.scope)) {
    return { ...route, rights: { ...route.rights, refusals: write } };
  }
  if (route.method === "GET" || route.method === "ANY") return route;
  if (route.who === "public" || route.scope === "own run" || route.scope === "own session") return route;
  const table = [...new Set([...(route.rights.table ?? []), ...write])];
  return { ...route, rights: { ...route.rights, table } };
}

/** Method and path of each route, with which the fallback detects a path that exists with another method. */
export const routePaths: readonly [method: string, path: string][] = routes
  .filter(({ path }) => path !== "*")
  .map(({ method, path }) => [method, path]);

/** Method and path of all routes but the fallback, for the fallback: packed, because a function's environment has 4 KB. */
export function packedRoutes(): string {
  return deflateRawSync(JSON.stringify(routePaths)).toString("base64");
}
