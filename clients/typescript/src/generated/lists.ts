// Generated from docs/openapi.json by `npm run clients:generate`. Do not edit.
/** The values of {@link ArtifactType}. */
export const ARTIFACT_TYPES = [
  "PLAN",
  "PULL_REQUEST",
  "SCREENSHOT",
  "FILE",
  "EXTERNAL_REFERENCE",
] as const;

/** The values of {@link DeliveryState}. */
export const DELIVERY_STATES = [
  "pending",
  "delivered",
  "failed",
] as const;

/** The values of {@link ExecutionLocation}. */
export const EXECUTION_LOCATIONS = [
  "REMOTE",
  "LOCAL",
] as const;

/** The values of {@link FollowupPolicy}. */
export const FOLLOWUP_POLICIES = [
  "enqueue",
  "interrupt",
  "reject",
] as const;

/** The values of {@link Overlap}. */
export const OVERLAPS = [
  "allow",
  "skip",
  "cancel_previous",
] as const;

/** The values of {@link Role}. */
export const ROLES = [
  "admin",
  "member",
] as const;

/** The values of {@link RunMode}. */
export const RUN_MODES = [
  "normal",
  "plan",
  "orchestrate",
] as const;

/** The values of {@link RunSourceType}. */
export const RUN_SOURCES = [
  "API",
  "CLI",
  "LOCAL",
  "SCHEDULED_AGENT",
  "WEB_APP",
  "GITHUB_ACTION",
  "SLACK",
  "LINEAR",
  "CLOUD_MODE",
  "JIRA",
  "GITHUB_WEBHOOK",
  "GITLAB_WEBHOOK",
  "CUSTOM_WEBHOOK",
  "ORCHESTRATION",
] as const;

/** The values of {@link RunState}. */
export const RUN_STATES = [
  "QUEUED",
  "PENDING",
  "CLAIMED",
  "INPROGRESS",
  "SUCCEEDED",
  "FAILED",
  "ERROR",
  "BLOCKED",
  "CANCELLED",
] as const;

/** The values of {@link TickOutcome}. */
export const TICK_OUTCOMES = [
  "fired",
  "skipped",
  "late",
  "failed",
] as const;

/** The values of {@link TimelineType}. */
export const TIMELINE_TYPES = [
  "run_created",
  "run_queued",
  "run_pending",
  "run_claimed",
  "worker_container_ready",
  "setup_environment_resolution",
  "setup_repo_clone",
  "setup_commands",
  "setup_mcp_servers",
  "setup_skill_loading",
  "agent_started",
  "followup_received",
  "checkpoint_saved",
  "execution_lost",
  "run_succeeded",
  "run_failed",
  "run_errored",
  "run_blocked",
  "run_cancelled",
  "run_stopped",
  "artifact_created",
] as const;

/** The values of {@link TriggerOutcome}. */
export const TRIGGER_OUTCOMES = [
  "started",
  "ignored",
  "duplicate",
  "failed",
] as const;

/** The values of {@link UsageGroup}. */
export const USAGE_GROUPS = [
  "day",
  "creator",
  "executor",
  "model",
  "schedule",
  "environment",
] as const;

/** The values of {@link WebhookEventType}. */
export const WEBHOOK_EVENT_TYPES = [
  "run_created",
  "run_queued",
  "run_pending",
  "run_claimed",
  "worker_container_ready",
  "followup_received",
  "execution_lost",
  "artifact_created",
  "run_succeeded",
  "run_failed",
  "run_errored",
  "run_blocked",
  "run_cancelled",
  "run_stopped",
] as const;
