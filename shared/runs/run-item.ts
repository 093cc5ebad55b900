import { fitting } from "#shared/pagination/page.ts";
import { type RunUsage, toRequestUsage } from "#shared/records/budget-account.ts";
import { toRoundedUsd } from "#shared/records/money.ts";
import { countPendingFollowups } from "#shared/records/pending-followups.ts";
import { toDuration } from "#shared/records/run.ts";
import { findPublicAccess, type RunBody } from "#shared/records/run-body.ts";
import { isEndedHead, isIdle, isLocal, parseOwner, type RunHead } from "#shared/records/run-head.ts";
import { computeCost, runTimeMs } from "#shared/records/run-time.ts";
import type { ArtifactItem } from "#shared/wire/artifact.ts";
import type { ResolvedAgentConfig } from "#shared/wire/config.ts";
import { toTimestamp } from "#shared/wire/primitives.ts";
import { maskRepositories } from "#shared/wire/repository-url.ts";
import type { RunItem } from "#shared/wire/run.ts";
import type { RunPorts } from "./run-ports.ts";

export interface ViewSettings {
  readonly webUrl: string | undefined;
  readonly now: number;
  /** The price of a sandbox of the service. @default not known */
  readonly sandboxUsdPerHour?: number | undefined;
  /** The model usage of the run, where its head says that it has any. */
  readonly used?: RunUsage | undefined;
  /** The prompt with the follow-ups before the start. @default the prompt */
  readonly submitted?: string;
}

/** What the deployment contributes to how responses show a run. */
export const toViewSettings = ({
  webUrl,
  now,
  sandboxUsdPerHour,
}: Pick<RunPorts, "webUrl" | "now" | "sandboxUsdPerHour">): ViewSettings => ({ webUrl, now: now(), sandboxUsdPerHour });

/** Formats a run as responses show it. */
export function toRunItem(
  head: RunHead,
  body: RunBody,
  artifacts: readonly ArtifactItem[],
  view: ViewSettings,
): RunItem {
  const ended = isEndedHead(head) ? head : undefined;
  return {
    run_id: head.run_id,
    task_id: head.run_id,
    root_run_id: body.ancestors[0] ?? head.run_id,
    title: body.title,
    state: head.state,
    prompt: body.prompt,
    submitted_prompt: view.submitted ?? body.prompt,
    created_at: toTimestamp(head.created_at),
    updated_at: toTimestamp(head.updated_at),
    started_at: head.started_at === undefined ? null : toTimestamp(head.started_at),
    finished_at: ended === undefined ? null : toTimestamp(ended.ended_at),
    ...(ended?.status_message === undefined ? {} : { status_message: ended.status_message }),
    ...waitingShown(head),
    source: body.source,
    execution_location: body.execution_location,
    ...(body.schedule === undefined ? {} : { schedule: body.schedule }),
    session_id: head.run_id,
    ...(view.webUrl === undefined ? {} : { session_link: `${view.webUrl}/runs/${head.run_id}` }),
    ...(body.trigger?.url === undefined ? {} : { trigger_url: body.trigger.url }),
    creator: body.creator,
    executor: body.executor,
    ...usageShown(view.used, computeCost(head, view.now, view.sandboxUsdPerHour)),
    agent_config: shownConfig(withSharing(body)),
    ...(body.config.skill_spec === undefined
      ? {}
      : { agent_skill: body.agent_skill ?? { full_path: body.config.skill_spec } }),
    conversation_id: body.conversation_id,
    ...(body.parent_run_id === undefined ? {} : { parent_run_id: body.parent_run_id }),
    is_sandbox_running: !isLocal(head) && (head.state === "INPROGRESS" || ended?.stop_pending === true),
    is_run_type_cancellable: isCancellable(body),
    ...(head.started_at === undefined ? {} : { run_time: toDuration(runTimeMs(head, view.now)) }),
    ...(body.metadata === undefined ? {} : { metadata: body.metadata }),
    artifacts: shownArtifacts(artifacts),
    archived: head.p.archived === true,
    pending_followups: countPendingFollowups(head),
    scope: shownScope(head),
  };
}

/** The configuration with the present public access, which may differ from that of the run's creation. */
function withSharing(body: RunBody): ResolvedAgentConfig {
  const public_access = findPublicAccess(body);
  return public_access === undefined ? body.config : { ...body.config, session_sharing: { public_access } };
}

/** A run that waits with its execution waits for a follow-up; so does an interrupted one that has ended. */
function waitingShown(head: RunHead): Pick<RunItem, "waiting_for" | "approval"> {
  if (head.state === "BLOCKED") {
    const waiting_for = head.waiting_for ?? "answer";
    if (head.approval === undefined) return { waiting_for };
    const { digest: _, ...approval } = head.approval;
    return { waiting_for, approval };
  }
  return isIdle(head) && countPendingFollowups(head) === 0 ? { waiting_for: "followup" } : {};
}

/** A run without model calls has no usage, unless its sandboxes cost something. */
function usageShown(used: RunUsage | undefined, compute: number | undefined): Pick<RunItem, "request_usage"> {
  const usage = used === undefined ? undefined : toRequestUsage(used);
  const usd = compute === undefined ? undefined : toRoundedUsd(compute);
  if (usage === undefined && (usd ?? 0) === 0) return {};
  return { request_usage: { ...usage, ...(usd === undefined ? {} : { compute_cost: usd, compute_cost_usd: usd }) } };
}

/** Bytes of the artifacts that a response shows with their run. */
const ARTIFACTS_BYTES = 2 * 1024 * 1024;

/** As many of a run's artifacts, oldest first, as leave room for the rest of a response. */
export const shownArtifacts = (artifacts: readonly ArtifactItem[]): ArtifactItem[] =>
  fitting(artifacts, ARTIFACTS_BYTES);

/** True for runs that this service executes itself; it cannot stop those of a worker or of the caller. */
export function isCancellable(body: RunBody): boolean {
  return (
    body.execution_location === "REMOTE" && body.config.worker_host === undefined && body.source !== "GITHUB_ACTION"
  );
}

/**
 * Formats the configuration without secrets, without an empty `base_prompt`, and without the default harness, which older clients would
 * mistake for another.
 */
export function shownConfig(config: ResolvedAgentConfig): ResolvedAgentConfig {
  const { base_prompt = "", harness, mcp_servers, repositories, ...rest } = config;
  const isDefault = harness === undefined || harness.type === "default" || harness.type === "oz";
  return {
    ...rest,
    ...(base_prompt === "" ? {} : { base_prompt }),
    ...(isDefault ? {} : { harness }),
    ...(repositories === undefined ? {} : { repositories: maskRepositories(repositories) }),
    ...(mcp_servers === undefined
      ? {}
      : {
          mcp_servers: Object.fromEntries(Object.entries(mcp_servers).map(([name, server]) => [name, masked(server)])),
        }),
  };
}

type Server = NonNullable<ResolvedAgentConfig["mcp_servers"]>[string];

function masked({ env, headers, ...server }: Server): Server {
  const hidden = (values: Record<string, string>) =>
    Object.fromEntries(Object.keys(values).map((name) => [name, "***"]));
  return {
    ...server,
    ...(env === undefined ? {} : { env: hidden(env) }),
    ...(headers === undefined ? {} : { headers: hidden(headers) }),
  };
}

function shownScope(head: RunHead): NonNullable<RunItem["scope"]> {
  const { type, uid } = parseOwner(head);
  return { type, uid };
}
