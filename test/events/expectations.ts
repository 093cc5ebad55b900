import { expect } from "vitest";

/** What a function does with an event. */
export type Outcome =
  /** Responds to a request; `fields` are the paths that a 400 names. */
  | { readonly status: number; readonly error_code?: string; readonly fields?: readonly string[] }
  /** Processes a batch or a tick, except the messages with these ids. */
  | { readonly failed: readonly string[] }
  /** Returns a result to its invoker; null if there is none. */
  | { readonly responses: unknown }
  /** Starts the harness with the event as its envelope. */
  | { readonly harness: "started" | "not started" }
  /** Refuses the whole event, with an error whose message contains this text. */
  | { readonly throws: string };

export interface Expectation {
  /** Fixtures that are played before, in this order, to create what the event needs. */
  readonly after?: readonly string[];
  readonly outcome: Outcome;
  /** State of the run afterwards. */
  readonly leaves?: string;
}

const created = ["http/create-run.json"];
const dispatched = [...created, "sqs/dispatch-run.json"];
const working = [...dispatched, "http/resolve-prompt.json"];
const finished = [...working, "http/append-messages.json", "http/finish-task.json", "sqs/end-run.json"];
const withFollowup = [...finished, "http/send-followup.json"];
const withArtifact = [...working, "http/report-artifact.json", "http/report-artifact.json"];

const external = [...working, "http/create-external-conversation.json"];

const withSchedule = ["http/create-schedule.json"];

const withIdentity = ["http/create-identity.json"];
const withIdentityKey = [...withIdentity, "http/create-identity-key.json"];

const withTrustRule = [...withIdentity, "http/create-trust-rule.json"];

const withWebhook = ["http/create-webhook.json"];
const withDelivery = [...withWebhook, ...created, "stream/plan-deliveries.json"];

const withTrigger = ["http/create-trigger.json"];

const withEnvironment = ["http/create-environment.json"];

const withSession = ["http/create-session.json", "http/list-web-sessions.json"];

const withMember = ["http/create-invitation.json", "http/accept-invitation.keyless.json"];

const ok = { status: 200 };
const made = { status: 201 };
const gone = { status: 204 };
const taken = { failed: [] };
const invalid = (...fields: string[]): Outcome => ({ status: 400, error_code: "invalid_request", fields });
const missing: Outcome = { status: 404, error_code: "resource_not_found" };
const conflict: Outcome = { status: 409, error_code: "conflict" };
const unknownCaller: Outcome = { status: 401, error_code: "authentication_required" };

/** The expected outcome of each file in events/. */
export const expectations: Readonly<Record<string, Expectation>> = {
  "http/create-run.json": { outcome: ok, leaves: "QUEUED" },
  "http/create-run.everything.json": { outcome: ok, leaves: "QUEUED" },
  "http/create-run.shared.json": { outcome: ok, leaves: "QUEUED" },
  "http/create-run.bad.json": { outcome: invalid("metadata.no spaces allowed") },
  "http/create-run.form.bad.json": { outcome: { status: 415, error_code: "invalid_request" } },
  "http/create-run.unauthenticated.bad.json": { outcome: unknownCaller },
  "http/list-runs.json": { after: created, outcome: ok },
  "http/list-runs.filtered.json": { after: ["http/create-run.everything.json"], outcome: ok },
  "http/list-runs.bad.json": { outcome: invalid("limit", "state") },
  "http/get-run.json": { after: created, outcome: ok },
  "http/get-run.bad.json": { after: created, outcome: missing },
  "http/cancel-run.json": { after: working, outcome: ok, leaves: "CANCELLED" },
  "http/cancel-run.bad.json": { after: working, outcome: invalid("force"), leaves: "INPROGRESS" },
  "http/delete-run.json": { after: [...created, "http/cancel-run.json"], outcome: gone },
  "http/delete-run.bad.json": { after: created, outcome: conflict },
  "http/share-run.json": { after: working, outcome: ok },
  "http/share-run.bad.json": { after: created, outcome: invalid("public_access") },
  "http/archive-run.json": { after: working, outcome: ok },
  "http/archive-run.bad.json": { after: created, outcome: missing },
  "http/unarchive-run.json": { after: [...working, "http/archive-run.json"], outcome: ok },
  "http/unarchive-run.bad.json": { after: created, outcome: missing },
  "http/delete-runs.json": { after: [...created, "http/cancel-run.json"], outcome: ok },
  "http/delete-runs.bad.json": { after: created, outcome: invalid("filter"), leaves: "QUEUED" },
  "http/archive-runs.json": { after: working, outcome: ok },
  "http/archive-runs.bad.json": { after: working, outcome: invalid("all") },
  "http/unarchive-runs.json": { after: [...working, "http/archive-run.json"], outcome: ok },
  "http/unarchive-runs.bad.json": { after: working, outcome: invalid("filter.state[0]") },
  "http/cancel-runs.json": { after: created, outcome: ok, leaves: "CANCELLED" },
  "http/cancel-runs.bad.json": { after: created, outcome: invalid("filter"), leaves: "QUEUED" },
  "http/create-attachment.json": { outcome: ok },
  "http/create-attachment.bad.json": { outcome: invalid("size_bytes", "sha256") },
  "http/prepare-attachments.json": { after: working, outcome: ok },
  "http/prepare-attachments.bad.json": { after: working, outcome: invalid("files[0].size_bytes") },
  "http/prepare-conversation-attachments.json": { after: working, outcome: ok },
  "http/prepare-conversation-attachments.bad.json": { after: working, outcome: invalid("files[0].size_bytes") },
  "http/download-attachments.json": { after: working, outcome: ok },
  "http/download-attachments.bad.json": { after: working, outcome: invalid("attachment_ids[0]") },
  "http/list-handoff-attachments.json": { after: finished, outcome: ok },
  "http/list-handoff-attachments.bad.json": { after: finished, outcome: missing },
  "http/redirect-session.json": { after: ["http/create-run.shared.json"], outcome: ok },
  "http/redirect-session.bad.json": { after: created, outcome: missing },
  "http/redirect-conversation.json": { after: ["http/create-run.shared.json"], outcome: ok },
  "http/redirect-conversation.bad.json": { after: created, outcome: missing },
  "http/send-followup.json": { after: finished, outcome: ok, leaves: "QUEUED" },
  "http/interrupt-run.json": { after: working, outcome: { status: 202 }, leaves: "INPROGRESS" },
  "http/interrupt-run.bad.json": { outcome: missing },
  "http/interrupt-conversation.json": { after: working, outcome: { status: 202 }, leaves: "INPROGRESS" },
  "http/interrupt-conversation.bad.json": { outcome: missing },
  "http/send-followup.bad.json": { after: finished, outcome: invalid("message"), leaves: "SUCCEEDED" },
  "http/send-conversation-followup.json": { after: finished, outcome: ok, leaves: "QUEUED" },
  "http/send-conversation-followup.bad.json": { after: finished, outcome: invalid("message"), leaves: "SUCCEEDED" },
  "http/update-followup.json": { after: withFollowup, outcome: ok },
  "http/update-followup.bad.json": { after: withFollowup, outcome: unknownCaller },
  "http/delete-followup.json": { after: withFollowup, outcome: gone },
  "http/delete-followup.bad.json": { after: withFollowup, outcome: unknownCaller },
  "http/promote-followup.json": { after: withFollowup, outcome: ok },
  "http/promote-followup.bad.json": { after: withFollowup, outcome: unknownCaller },
  "http/list-followups.json": { after: working, outcome: ok },
  "http/list-followups.bad.json": { after: working, outcome: unknownCaller },
  "http/get-timeline.json": { after: working, outcome: ok },
  "http/get-timeline.bad.json": { after: working, outcome: unknownCaller },
  "http/get-run-conversation.json": { after: finished, outcome: ok },
  "http/get-run-conversation.bad.json": { outcome: missing },
  "http/find-run-by-reference.json": { after: [...working, "http/report-artifact.reference.json"], outcome: ok },
  "http/find-run-by-reference.bad.json": { outcome: invalid("url") },
  "http/get-conversation-transcript.json": { after: finished, outcome: { status: 302 } },
  "http/get-conversation-transcript.bad.json": { outcome: missing },
  "http/download-public-artifact.json": { after: [...withArtifact, "http/share-run.json"], outcome: { status: 302 } },
  "http/download-public-artifact.bad.json": { after: withArtifact, outcome: missing },
  "http/download-artifact.json": { after: withArtifact, outcome: { status: 302 } },
  "http/download-artifact.bad.json": { outcome: missing },
  "http/get-transcript.json": { after: finished, outcome: { status: 302 } },
  "http/get-transcript.bad.json": { outcome: missing },
  "http/list-events.json": { after: working, outcome: ok },
  "http/list-events.bad.json": { after: working, outcome: invalid("after", "wait") },
  "http/get-response.json": { after: finished, outcome: ok },
  "http/get-response.bad.json": { outcome: missing },
  "http/create-client-event.json": { after: working, outcome: ok },
  "http/create-client-event.bad.json": { after: working, outcome: invalid("event_name") },

  "http/get-conversation.json": { after: finished, outcome: ok },
  "http/get-conversation.bad.json": { outcome: missing },
  "http/get-artifact.json": { after: withArtifact, outcome: ok },
  "http/get-artifact.bad.json": { outcome: missing },
  "http/list-agents.json": { after: withEnvironment, outcome: ok },
  "http/list-agents.bad.json": { outcome: invalid("refresh") },
  "http/list-workers.json": { outcome: ok },
  "http/list-workers.bad.json": { outcome: invalid("limit") },
  "http/list-models.json": { outcome: ok },
  "http/list-models.bad.json": { outcome: unknownCaller },

  "http/get-openid-configuration.json": { outcome: ok },
  "http/get-openid-configuration.bad.json": { outcome: invalid("find") },
  "http/list-signing-keys.json": { outcome: ok },
  "http/list-signing-keys.bad.json": { outcome: invalid("find") },
  "http/get-openapi.json": { outcome: ok },
  "http/get-openapi.bad.json": { outcome: invalid("find") },
  "http/get-reference.json": { outcome: ok },
  "http/get-reference.bad.json": { outcome: invalid("find") },
  "http/get-reference-page.json": { outcome: ok },
  "http/get-reference-page.bad.json": { outcome: missing },
  "http/get-guide.json": { outcome: ok },
  "http/get-guide.bad.json": { outcome: missing },
  "http/list-pages.json": { outcome: ok },
  "http/list-pages.bad.json": { outcome: invalid("find") },
  "http/list-errors.json": { outcome: ok },
  "http/list-errors.bad.json": { outcome: invalid("find") },
  "http/get-error-page.json": { outcome: ok },
  "http/get-error-page.bad.json": { outcome: missing },

  "http/create-identity.json": { outcome: made },
  "http/create-identity.bad.json": { outcome: invalid("name", "skills[0]") },
  "http/list-identities.json": { after: withIdentity, outcome: ok },
  "http/list-identities.bad.json": { outcome: invalid("limit") },
  "http/get-identity.json": { after: withIdentity, outcome: ok },
  "http/get-identity.bad.json": { after: withIdentity, outcome: missing },
  "http/update-identity.json": { after: withIdentity, outcome: ok },
  "http/update-identity.bad.json": { after: withIdentity, outcome: invalid("credential_strategy") },
  "http/delete-identity.json": { after: withIdentity, outcome: gone },
  "http/delete-identity.bad.json": { after: withIdentity, outcome: missing },
  "http/create-identity-key.json": { after: withIdentity, outcome: made },
  "http/create-identity-key.bad.json": { after: withIdentity, outcome: invalid("expires_at") },
  "http/list-identity-keys.json": { after: withIdentityKey, outcome: ok },
  "http/list-identity-keys.bad.json": { after: withIdentityKey, outcome: invalid("cursor") },
  "http/delete-identity-key.json": { after: withIdentityKey, outcome: gone },
  "http/delete-identity-key.bad.json": { after: withIdentityKey, outcome: missing },
  "http/create-trust-rule.json": { after: withIdentity, outcome: made },
  "http/create-trust-rule.bad.json": { after: withIdentity, outcome: invalid("ttl_seconds") },
  "http/list-trust-rules.json": { after: withTrustRule, outcome: ok },
  "http/list-trust-rules.bad.json": { after: withTrustRule, outcome: unknownCaller },
  "http/get-trust-rule.json": { after: withTrustRule, outcome: ok },
  "http/get-trust-rule.bad.json": { after: withTrustRule, outcome: missing },
  "http/update-trust-rule.json": { after: withTrustRule, outcome: ok },
  "http/update-trust-rule.bad.json": { after: withTrustRule, outcome: invalid("subject_pattern") },
  "http/delete-trust-rule.json": { after: withTrustRule, outcome: gone },
  "http/delete-trust-rule.bad.json": { after: withTrustRule, outcome: missing },
  "http/create-token.json": { after: withTrustRule, outcome: made },
  "http/create-token.bad.json": { outcome: invalid("token") },

  "http/create-environment.json": { outcome: made },
  "http/create-environment.bad.json": { outcome: invalid("name", "github_repos[0].owner") },
  "http/list-environments.json": { after: withEnvironment, outcome: ok },
  "http/list-environments.bad.json": { after: withEnvironment, outcome: invalid("sort_by") },
  "http/get-environment.json": { after: withEnvironment, outcome: ok },
  "http/get-environment.bad.json": { after: withEnvironment, outcome: missing },
  "http/update-environment.json": { after: withEnvironment, outcome: ok },
  "http/update-environment.bad.json": { after: withEnvironment, outcome: invalid("setup_commands[0]") },
  "http/delete-environment.json": { after: withEnvironment, outcome: gone },
  "http/delete-environment.bad.json": { after: withEnvironment, outcome: missing },
  "http/share-environment.json": { after: withEnvironment, outcome: ok },
  // There is no such user.
  "http/share-environment.bad.json": { after: withEnvironment, outcome: invalid("user_uid") },
  "http/unshare-environment.json": {
    after: [...withEnvironment, "http/share-environment.json"],
    outcome: ok,
  },
  "http/unshare-environment.bad.json": { after: withEnvironment, outcome: invalid("link") },

  "http/create-key.json": { outcome: made },
  "http/create-key.bad.json": { outcome: invalid("name") },
  "http/list-keys.json": { outcome: ok },
  "http/list-keys.bad.json": { outcome: unknownCaller },
  "http/delete-key.json": { after: ["http/create-key.json"], outcome: gone },
  "http/delete-key.bad.json": { after: ["http/create-key.json"], outcome: missing },

  "http/create-session.json": { outcome: gone },
  "http/create-session.bad.json": { outcome: invalid("body") },
  "http/get-session.json": { outcome: ok },
  "http/get-session.bad.json": { outcome: unknownCaller },
  "http/extend-session.json": { outcome: gone },
  "http/extend-session.bad.json": { outcome: unknownCaller },
  "http/delete-session.json": { outcome: gone },
  "http/delete-session.bad.json": { outcome: unknownCaller },
  "http/create-sign-in-link.json": { outcome: made },
  "http/create-sign-in-link.bad.json": { outcome: unknownCaller },
  "http/exchange-code.json": { outcome: made },
  "http/exchange-code.bad.json": { outcome: invalid("code_verifier") },
  "http/get-sign-in-methods.json": { outcome: ok },
  "http/get-sign-in-methods.bad.json": { outcome: invalid("find") },
  "http/list-web-sessions.json": { after: ["http/create-session.json"], outcome: ok },
  "http/list-web-sessions.bad.json": { outcome: unknownCaller },
  "http/revoke-session.json": { after: withSession, outcome: gone },
  "http/revoke-session.bad.json": { outcome: unknownCaller },
  "http/list-audit-events.json": { outcome: ok },
  "http/list-audit-events.bad.json": { outcome: unknownCaller },
  "http/get-usage.json": { after: finished, outcome: ok },
  "http/get-usage.bad.json": { outcome: unknownCaller },
  "http/get-public-run.json": { after: ["http/create-run.shared.json"], outcome: ok },
  "http/get-public-run.bad.json": { after: created, outcome: missing },
  "http/create-environment.plain.json": { outcome: made },
  "http/try-environment.json": { after: ["http/create-environment.plain.json"], outcome: ok },
  "http/try-environment.bad.json": { outcome: unknownCaller },
  "http/get-me.json": { outcome: ok },
  "http/get-me.bad.json": { outcome: unknownCaller },
  "http/update-me.json": { outcome: ok },
  "http/update-me.bad.json": { outcome: invalid("display_name") },
  "http/create-team.json": { outcome: made },
  "http/create-team.bad.json": { outcome: invalid("settings.concurrency_limit") },
  "http/list-teams.json": { outcome: ok },
  "http/list-teams.bad.json": { outcome: invalid("limit") },
  "http/get-team.json": { outcome: ok },
  "http/get-team.bad.json": { outcome: missing },
  "http/update-team.json": { outcome: ok },
  "http/update-team.bad.json": { outcome: invalid("settings.default_model_id") },
  "http/delete-team.json": { after: ["http/create-invitation.json", "http/create-secret.json"], outcome: gone },
  // With a run that has not ended.
  "http/delete-team.bad.json": { after: created, outcome: conflict, leaves: "QUEUED" },
  "http/list-members.json": { outcome: ok },
  "http/list-members.bad.json": { outcome: missing },
  "http/update-member.json": { after: withMember, outcome: ok },
  "http/update-member.bad.json": { after: withMember, outcome: invalid("role") },
  "http/remove-member.json": { after: withMember, outcome: ok },
  "http/remove-member.bad.json": { outcome: missing },
  "http/create-invitation.json": { outcome: made },
  "http/create-invitation.bad.json": { outcome: invalid("email") },
  "http/list-invitations.json": { outcome: ok },
  "http/list-invitations.bad.json": { outcome: invalid("limit") },
  "http/delete-invitation.json": { after: ["http/create-invitation.json"], outcome: gone },
  "http/delete-invitation.bad.json": { outcome: missing },
  "http/accept-invitation.json": { after: ["http/create-invitation.json"], outcome: ok },
  // Without a key, which creates an account.
  "http/accept-invitation.keyless.json": { after: ["http/create-invitation.json"], outcome: made },
  // By a member of the team.
  "http/accept-invitation.bad.json": { after: ["http/create-invitation.json"], outcome: conflict },
  "http/create-secret.json": { outcome: made },
  "http/create-secret.bad.json": { outcome: invalid("name", "value") },
  "http/list-secrets.json": { outcome: ok },
  "http/list-secrets.bad.json": { outcome: unknownCaller },
  "http/get-secret.json": { after: ["http/create-secret.json"], outcome: ok },
  "http/get-secret.bad.json": { outcome: missing },
  "http/delete-secret.json": { after: ["http/create-secret.json"], outcome: gone },
  // In another team than the caller's.
  "http/delete-secret.bad.json": {
    after: ["http/create-secret.json"],
    outcome: { status: 403, error_code: "not_authorized" },
  },

  "http/create-schedule.json": { outcome: made },
  "http/create-schedule.everything.json": { outcome: made },
  "http/create-schedule.bad.json": { outcome: invalid("cron_schedule") },
  "http/list-schedules.json": { after: withSchedule, outcome: ok },
  "http/list-schedules.bad.json": { after: withSchedule, outcome: invalid("limit") },
  "http/get-schedule.json": { after: withSchedule, outcome: ok },
  "http/get-schedule.bad.json": { after: withSchedule, outcome: missing },
  "http/update-schedule.json": { after: withSchedule, outcome: ok },
  "http/update-schedule.bad.json": { after: withSchedule, outcome: invalid("enabled") },
  "http/delete-schedule.json": { after: withSchedule, outcome: ok },
  "http/delete-schedule.bad.json": { after: withSchedule, outcome: missing },
  "http/pause-schedule.json": { after: withSchedule, outcome: ok },
  "http/pause-schedule.bad.json": { after: withSchedule, outcome: missing },
  "http/resume-schedule.json": { after: [...withSchedule, "http/pause-schedule.json"], outcome: ok },
  "http/resume-schedule.bad.json": { after: withSchedule, outcome: missing },
  "http/run-schedule.json": { after: withSchedule, outcome: ok, leaves: "QUEUED" },
  "http/run-schedule.bad.json": { after: withSchedule, outcome: unknownCaller },
  "http/list-ticks.json": { after: [...withSchedule, "invocation/fire-schedule.json"], outcome: ok },
  "http/list-ticks.bad.json": { after: withSchedule, outcome: invalid("limit") },

  "http/resolve-prompt.json": { after: dispatched, outcome: ok, leaves: "INPROGRESS" },
  // With the key of a person, who may not act for an execution.
  "http/resolve-prompt.bad.json": {
    after: dispatched,
    outcome: { status: 403, error_code: "not_authorized" },
    leaves: "PENDING",
  },
  "http/heartbeat.json": { after: working, outcome: ok, leaves: "INPROGRESS" },
  // From a second harness of the same execution.
  "http/heartbeat.bad.json": { after: working, outcome: { status: 409, error_code: "conflict" } },
  "http/append-messages.json": { after: working, outcome: ok },
  "http/append-messages.bad.json": { after: working, outcome: invalid("first_sequence") },
  "http/record-live-output.json": { after: working, outcome: ok, leaves: "INPROGRESS" },
  "http/record-live-output.bad.json": { after: working, outcome: invalid("frames"), leaves: "INPROGRESS" },
  "http/report-artifact.json": { after: working, outcome: ok },
  "http/report-artifact.reference.json": { after: working, outcome: ok },
  "http/report-artifact.plan.json": { after: working, outcome: ok, leaves: "INPROGRESS" },
  "http/report-artifact.bad.json": { after: working, outcome: invalid("data.filepath") },
  "http/notify-user.json": { after: working, outcome: ok, leaves: "INPROGRESS" },
  "http/notify-user.bad.json": { after: working, outcome: invalid("message"), leaves: "INPROGRESS" },
  "http/create-identity-token.json": { after: working, outcome: ok, leaves: "INPROGRESS" },
  "http/create-identity-token.bad.json": { after: working, outcome: invalid("audience"), leaves: "INPROGRESS" },
  "http/push-branch.json": { after: working, outcome: ok, leaves: "INPROGRESS" },
  "http/push-branch.bad.json": { after: working, outcome: invalid("commit"), leaves: "INPROGRESS" },
  "http/finish-task.json": { after: working, outcome: ok, leaves: "SUCCEEDED" },
  "http/finish-task.blocked.json": { after: working, outcome: ok, leaves: "BLOCKED" },
  "http/finish-task.bad.json": { after: working, outcome: invalid("error_code"), leaves: "INPROGRESS" },
  "http/upload-snapshot.json": { after: working, outcome: ok, leaves: "INPROGRESS" },
  "http/upload-snapshot.bad.json": { after: working, outcome: invalid("generation"), leaves: "INPROGRESS" },
  "http/commit-snapshot.json": {
    after: [...working, "http/upload-snapshot.json"],
    outcome: ok,
    leaves: "INPROGRESS",
  },
  "http/commit-snapshot.bad.json": {
    after: [...working, "http/upload-snapshot.json"],
    outcome: invalid("generation"),
    leaves: "INPROGRESS",
  },
  "http/create-external-conversation.json": { after: working, outcome: ok, leaves: "INPROGRESS" },
  "http/create-external-conversation.bad.json": { after: working, outcome: invalid("format"), leaves: "INPROGRESS" },
  "http/upload-transcript.json": { after: external, outcome: ok, leaves: "INPROGRESS" },
  "http/upload-transcript.bad.json": { after: external, outcome: invalid("sha256"), leaves: "INPROGRESS" },
  "http/get-raw-transcript.json": {
    after: [...external, "http/upload-transcript.json", "http/upload-transcript.json"],
    outcome: { status: 302 },
  },
  "http/get-raw-transcript.bad.json": { after: working, outcome: { status: 400, error_code: "invalid_request" } },
  "http/create-trigger.json": { outcome: made },
  "http/create-trigger.bad.json": { outcome: invalid("verification") },
  "http/list-triggers.json": { after: withTrigger, outcome: ok },
  "http/list-triggers.bad.json": { after: withTrigger, outcome: unknownCaller },
  "http/get-trigger.json": { after: withTrigger, outcome: ok },
  "http/get-trigger.bad.json": { after: withTrigger, outcome: missing },
  "http/update-trigger.json": { after: withTrigger, outcome: ok },
  "http/update-trigger.bad.json": { after: withTrigger, outcome: invalid("enabled") },
  "http/delete-trigger.json": { after: withTrigger, outcome: gone },
  "http/delete-trigger.bad.json": { after: withTrigger, outcome: missing },
  "http/pause-trigger.json": { after: withTrigger, outcome: ok },
  "http/pause-trigger.bad.json": { after: withTrigger, outcome: missing },
  "http/resume-trigger.json": { after: withTrigger, outcome: ok },
  "http/resume-trigger.bad.json": { after: withTrigger, outcome: missing },
  "http/rotate-trigger-secret.json": { after: withTrigger, outcome: ok },
  "http/rotate-trigger-secret.bad.json": { after: withTrigger, outcome: missing },
  "http/test-trigger.json": { after: withTrigger, outcome: ok },
  "http/test-trigger.bad.json": { after: withTrigger, outcome: invalid("payload") },
  "http/list-trigger-deliveries.json": { after: [...withTrigger, "http/receive-event.json"], outcome: ok },
  "http/list-trigger-deliveries.bad.json": { after: withTrigger, outcome: missing },
  "http/get-trigger-delivery.json": { after: [...withTrigger, "http/receive-event.json"], outcome: ok },
  "http/get-trigger-delivery.bad.json": { after: withTrigger, outcome: missing },
  "http/redeliver-event.json": { after: [...withTrigger, "http/receive-event.json"], outcome: ok },
  "http/redeliver-event.bad.json": { after: withTrigger, outcome: missing },
  "http/create-installation-claim.json": { outcome: made },
  "http/create-installation-claim.bad.json": { outcome: unknownCaller },
  "http/claim-installation.json": { outcome: made },
  "http/claim-installation.bad.json": { outcome: invalid("code") },
  "http/list-installations.json": { outcome: ok },
  "http/list-installations.bad.json": { outcome: unknownCaller },
  "http/release-installation.json": { after: ["http/claim-installation.json"], outcome: gone },
  "http/release-installation.bad.json": { outcome: missing },
  "http/receive-app-event.json": { outcome: ok },
  "http/receive-app-event.bad.json": { outcome: unknownCaller },
  "http/receive-event.json": { after: withTrigger, outcome: ok },
  "http/receive-event.bad.json": { after: withTrigger, outcome: unknownCaller },
  "http/send-message.json": { outcome: ok },
  "http/send-message.bad.json": { outcome: unknownCaller },
  "http/create-webhook.json": { outcome: made },
  "http/create-webhook.bad.json": { outcome: invalid("url") },
  "http/list-webhooks.json": { after: withWebhook, outcome: ok },
  "http/list-webhooks.bad.json": { after: withWebhook, outcome: unknownCaller },
  "http/get-webhook.json": { after: withWebhook, outcome: ok },
  "http/get-webhook.bad.json": { after: withWebhook, outcome: missing },
  "http/update-webhook.json": { after: withWebhook, outcome: ok },
  "http/update-webhook.bad.json": { after: withWebhook, outcome: invalid("event_types[0]") },
  "http/delete-webhook.json": { after: withWebhook, outcome: gone },
  "http/delete-webhook.bad.json": { after: withWebhook, outcome: missing },
  "http/rotate-webhook-secret.json": { after: withWebhook, outcome: ok },
  "http/rotate-webhook-secret.bad.json": { after: withWebhook, outcome: missing },
  "http/list-deliveries.json": { after: withDelivery, outcome: ok },
  "http/list-deliveries.bad.json": { after: withDelivery, outcome: invalid("state") },
  "http/redeliver-webhook.json": { after: withDelivery, outcome: ok },
  "http/redeliver-webhook.bad.json": { after: withDelivery, outcome: invalid("from_sequence") },
  "http/report-shutdown.json": { after: working, outcome: ok, leaves: "QUEUED" },
  "http/report-shutdown.bad.json": { after: working, outcome: unknownCaller, leaves: "INPROGRESS" },

  // The fallback refuses every request: here an unknown path, and a method that a known path does not have.
  "http/not-found.json": { outcome: missing },
  "http/not-found.bad.json": { after: created, outcome: { status: 405, error_code: "invalid_request" } },

  "sqs/dispatch-run.json": { after: created, outcome: taken, leaves: "PENDING" },
  "sqs/dispatch-run.bad.json": {
    after: created,
    outcome: { failed: ["870fa8e2-9c1b-498e-a12b-71eadb088355"] },
    leaves: "QUEUED",
  },
  "sqs/end-run.json": { after: [...working, "http/finish-task.json"], outcome: taken, leaves: "SUCCEEDED" },
  "sqs/end-run.bad.json": {
    after: [...working, "http/finish-task.json"],
    outcome: { failed: ["439d7998-d577-4f1d-a42e-548dab1ef224"] },
  },
  "sqs/reap-runs.json": { after: working, outcome: taken, leaves: "INPROGRESS" },
  "sqs/reap-runs.bad.json": { after: working, outcome: { failed: ["bc1dacaf-b094-436a-aeff-d921cc3b9b24"] } },

  "sqs/decide-events.json": { after: [...withTrigger, "http/receive-event.json"], outcome: taken },
  "sqs/decide-events.bad.json": {
    after: [...withTrigger, "http/receive-event.json"],
    outcome: { failed: ["5c0d1f8e-7a42-4b19-9d63-0e8f2a7b4c02"] },
  },
  "scheduler/decide-events.json": { after: [...withTrigger, "http/receive-event.json"], outcome: taken },
  "scheduler/decide-events.bad.json": { outcome: { throws: "Invalid" } },

  "stream/plan-deliveries.json": { after: [...withWebhook, ...created], outcome: taken },
  "stream/plan-deliveries.bad.json": { after: created, outcome: { throws: "HEAD is not an event" } },
  // On a single machine.
  "sqs/plan-deliveries.json": { after: [...withWebhook, ...created], outcome: taken },
  "sqs/plan-deliveries.bad.json": { after: created, outcome: { failed: ["1f2d7c54-0d0c-4f0e-9a64-5a2f8a3a7b02"] } },
  "sqs/attempt-deliveries.json": { after: withDelivery, outcome: taken },
  "sqs/attempt-deliveries.bad.json": { outcome: { failed: ["1f2d7c54-0d0c-4f0e-9a64-5a2f8a3a7b04"] } },
  "scheduler/plan-deliveries.json": { after: withDelivery, outcome: taken },
  "scheduler/plan-deliveries.bad.json": { outcome: { throws: "Invalid" } },
  "invocation/attempt-deliveries.json": { after: withDelivery, outcome: { responses: { batchItemFailures: [] } } },
  "invocation/attempt-deliveries.bad.json": { after: withWebhook, outcome: { throws: "Invalid" } },
  // The secret of its webhook has been deleted.
  "invocation/send-webhooks.json": {
    after: withWebhook,
    outcome: {
      responses: [
        { id: expect.any(String), at: expect.any(Number), duration_ms: 0, error: "the signing secret is missing" },
      ],
    },
  },
  // The secret of the credential has been deleted.
  "invocation/call-systems.json": {
    after: withWebhook,
    outcome: { responses: { failure: "the secret of the credential has no value" } },
  },
  "invocation/call-systems.bad.json": { after: withWebhook, outcome: { throws: "Invalid type" } },
  "invocation/send-webhooks.bad.json": {
    after: withWebhook,
    outcome: { throws: "Invalid type: Expected Object but received Object" },
  },

  // The schedule is due, and no timer has fired.
  "scheduler/reconcile-schedules.json": { after: withSchedule, outcome: taken },
  "scheduler/reconcile-schedules.bad.json": { after: withSchedule, outcome: { throws: 'Expected "aws.events"' } },
  "scheduler/reap-runs.json": { after: working, outcome: taken, leaves: "INPROGRESS" },
  "scheduler/reap-runs.bad.json": { after: working, outcome: { throws: 'Expected "aws.events"' } },

  "scheduler/delete-old-runs.json": { after: working, outcome: taken, leaves: "INPROGRESS" },
  "scheduler/delete-old-runs.bad.json": { after: working, outcome: { throws: 'Expected "aws.events"' } },

  "url/stream-events.json": { after: working, outcome: ok },
  // Without the header that CloudFront adds.
  "url/stream-events.bad.json": { after: working, outcome: { status: 403 } },
  "socket/connect-worker.json": { outcome: ok },
  "socket/connect-worker.bad.json": { outcome: { status: 401 } },
  "socket/receive-frame.json": { after: [...created, "socket/connect-worker.json"], outcome: ok, leaves: "QUEUED" },
  "socket/receive-frame.bad.json": { outcome: { throws: 'Expected "connectionId"' } },
  "socket/disconnect-worker.json": { after: ["socket/connect-worker.json"], outcome: ok },
  "socket/disconnect-worker.bad.json": { outcome: { throws: 'Expected "connectionId"' } },

  "url/call-model.json": { after: working, outcome: ok },
  "url/call-model.bad.json": { after: working, outcome: { status: 400 }, leaves: "INPROGRESS" },
  "invocation/run-sandbox.json": { after: dispatched, outcome: { harness: "started" } },
  // The response is the output of the program that is deployed with the function.
  "invocation/run-sandbox.scan.json": { outcome: { responses: { outcome: "found", files: [], left_out: 0 } } },
  "invocation/run-sandbox.scan.bad.json": { outcome: { throws: "must be an https, ssh or file URL" } },
  "invocation/fire-schedule.json": { after: withSchedule, outcome: { responses: { batchItemFailures: [] } } },
  "invocation/fire-schedule.bad.json": { after: withSchedule, outcome: { throws: "Invalid timestamp" } },
  "invocation/discover-skills.json": { outcome: { responses: null } },
  "invocation/discover-skills.bad.json": { outcome: { throws: "must be an https, ssh or file URL" } },
  "invocation/run-sandbox.bad.json": { after: dispatched, outcome: { throws: 'Expected "key"' } },
};
