import { childAllowance, ownAllowance } from "#shared/budgets/budget.ts";
import type { Allowance } from "#shared/budgets/budget-store.ts";
import { findKeyBudget } from "#shared/budgets/key-limits.ts";
import { childLimits, ownLimits, type PlannedLimits } from "#shared/budgets/run-limits.ts";
import { takeCharacters } from "#shared/characters.ts";
import type { Environment } from "#shared/environments/environment.ts";
import { refuseBlockedRepositories, refuseBlockedServers } from "#shared/environments/outward-urls.ts";
import { refuseDisks } from "#shared/environments/repositories.ts";
import {
  copySetup,
  environmentReader,
  findRunEnvironment,
  withEnvironment,
} from "#shared/environments/run-environment.ts";
import { invalid, RunyardError } from "#shared/errors.ts";
import { refuseUnsupportedOptions } from "#shared/http/unsupported-options.ts";
import { checkModel, defaultModel, findPrice } from "#shared/models/models.ts";
import { refuseReceiver } from "#shared/notifications/receiver-url.ts";
import { checkOutputSchema } from "#shared/output/check-output-schema.ts";
import { limitBudget } from "#shared/principals/key-budget.ts";
import type { Principal } from "#shared/principals/principal.ts";
import { resolveOwner } from "#shared/principals/resolve-owner.ts";
import { DEFAULT_IDLE_MINUTES } from "#shared/records/run.ts";
import { findTraceParent } from "#shared/records/trace-parent.ts";
import { type RequestCheck, refuseAtOnce } from "#shared/refusals.ts";
import { requireSecrets } from "#shared/secrets/run-secrets.ts";
import type { Owner } from "#shared/table/keys.ts";
import type { AmbientAgentConfig, ResolvedAgentConfig } from "#shared/wire/config.ts";
import { MAX_METADATA } from "#shared/wire/metadata.ts";
import { RUN_SOURCES, type RunSourceType } from "#shared/wire/run.ts";
import type { RunAgentRequest } from "#shared/wire/runs/new-run.ts";
import { type Actors, resolveActors } from "./actors/resolve-actors.ts";
import { checkApprovals, joinApprovals } from "./approvals/approval-rules.ts";
import { findBounds, refuseBeyond, withinRun } from "./child-rights.ts";
import { withCommitAuthor, withDefaults } from "./config-layers.ts";
import { checkFallbacks, checkResolvedFallbacks, withUsableFallbacks } from "./fallback-models.ts";
import { checkHarness, checkNamedModel, chooseHarnessModel } from "./harness-model.ts";
import { requireReadableOutput, withUsableOutput } from "./output/output-format.ts";
import {
  checkWorkerHost,
  namesWorker,
  refuseIgnoredImage,
  refusePersonalWorkerRun,
  refuseUnkeptNetwork,
} from "./placement.ts";
import type { RunPorts } from "./run-ports.ts";
import { type ContinuedConversation, findContinuedConversation, findParent, type Parent } from "./run-tree.ts";
import { requireSharing } from "./sharing/require-sharing.ts";

/** Bytes of a configuration: with the prompt and the metadata it has to fit into one item of the table. */
const CONFIG_BYTES = 256 * 1024;
/** Characters of a configuration's name, which a skill's name can exceed. */
const NAME_LENGTH = 256;

/** A new run as its request, its caller and the defaults of others make it; nothing is stored yet. */
export interface RunPlan {
  readonly request: RunAgentRequest;
  readonly owner: Owner;
  readonly actors: Actors;
  readonly parent: Parent | undefined;
  readonly environment: Environment | undefined;
  readonly conversation: ContinuedConversation | undefined;
  /** With every default filled in, and the budget that the run shows. */
  readonly config: ResolvedAgentConfig;
  /** Whether it only sets up its environment. */
  readonly setsUp: boolean;
  /** What the run's model calls may cost. */
  readonly allowance: Allowance | undefined;
  /** How long it may take, and how many model responses and tokens. */
  readonly limits: PlannedLimits | undefined;
  readonly metadata: Readonly<Record<string, string>>;
  readonly source: RunSourceType;
  /** The first skill, which the run starts from. */
  readonly skill: string | undefined;
  /** The position of the caller in a trace. */
  readonly traceparent: string | undefined;
}

export interface PlanCall {
  readonly body: RunAgentRequest;
  /** The body as a caller sent it; absent for runs that the service creates. */
  readonly sentBody?: unknown;
  readonly principal: Principal;
  readonly header: (name: string) => string | undefined;
  /** Whether the run only sets up its environment, by a prompt of the service. @default false */
  readonly setsUp?: boolean;
  /** Collects refusals after which more can be checked, as dry runs do. @default a refusal is thrown */
  readonly check?: RequestCheck;
}

/** Resolves everything that a new run depends on, and refuses what its caller may not request. */
export async function planRun({ check = refuseAtOnce, ...call }: PlanCall, ports: RunPorts): Promise<RunPlan> {
  const { body, principal, header } = call;
  const limited = limitBudget("config", body.config, principal);
  const request = limited === undefined ? body : { ...body, config: limited };
  const parent = await findParent(request, principal, ports);
  const conversation = await findContinuedConversation(request, principal, ports);
  const owner = resolveOwner(request, principal, { parent: parent?.owner, conversation: conversation?.owner });
  const actors = await resolveActors(request, principal, parent?.executor, owner, ports.table);
  const { filled, environment } = await fillRequest(request, principal, { parent, owner, actors, check }, ports);
  const config = resolveConfig(filled);
  await requireSecrets(config, "config", { owner, parent }, ports.table);
  if (config.session_sharing?.public_access !== undefined)
    await requireSharing(owner, "config.session_sharing", ports.table);
  const allowance =
    parent === undefined
      ? ownAllowance(config.budget_usd, findKeyBudget(principal))
      : await childAllowance(config.budget_usd, parent, ports.table, findKeyBudget(principal));
  check(() => refuseUnsupportedOptions(call.sentBody, "runs"));
  check(() => refuseNotification(request, principal, ports));
  const limits = parent === undefined ? ownLimits(config) : await childLimits(config, parent, ports);
  // A child shows whose budget it draws on where it has none of its own.
  const budget = config.budget_usd ?? parent?.budgetUsd;
  return {
    request,
    owner,
    actors,
    parent,
    environment,
    conversation,
    config: { ...config, ...(budget === undefined ? {} : { budget_usd: budget }), ...ownConfig(limits) },
    allowance,
    limits,
    metadata: mergeMetadata(parent, request),
    source: toSource(header, parent !== undefined),
    skill: getSkills(filled)[0],
    traceparent: findTraceParent(header("traceparent"), parent, principal.kind === "run"),
    setsUp: call.setsUp === true,
  };
}

/** Refuses a `notify_url` that gets no events. A run's own key has none, so that no sandbox can send what its children do to others. */
function refuseNotification({ notify_url: url }: RunAgentRequest, { kind }: Principal, { webhooks }: RunPorts): void {
  if (url === undefined) return;
  if (kind === "run") {
    throw new RunyardError("not_authorized", { detail: "notify_url: a run's key cannot set it; leave it out" });
  }
  refuseReceiver("notify_url", url, webhooks);
}

/** The limits as the configuration shows them. */
const ownConfig = ({ above: _, endsBy: __, ...shown }: PlannedLimits = { above: [] }) => shown;

/** Fills the request from its defaults: those of its identity and team, then those of its environment. */
async function fillRequest(
  request: RunAgentRequest,
  principal: Principal,
  { parent, owner, actors, check }: Pick<RunPlan, "parent" | "owner" | "actors"> & { readonly check: RequestCheck },
  ports: RunPorts,
): Promise<{ filled: RunAgentRequest; environment: Environment | undefined }> {
  const bounds = await findBounds(principal, parent, ports);
  if (bounds !== undefined) check(() => refuseBeyond(request, bounds));
  const withLayers = withParent(withDefaults(request, actors), parent);
  const chosen = bounds === undefined ? withLayers : withinRun(withLayers, bounds);
  const reader = { ...environmentReader(principal, owner), inherited: bounds?.config.environment_id };
  const environment = await findRunEnvironment(chosen.config, reader, ports.table);
  const withAuthor = withCommitAuthor(withEnvironment(chosen, environment), actors);
  const filled = withUsableOutput(withUsableFallbacks(withAuthor, request), request);
  if (filled !== request) checkConfig(filled, check);
  const { execution_location = "REMOTE" } = request;
  const placed = { ...copySetup(environment), execution_location, config: filled.config };
  check(() => refuseIgnoredImage(placed, ports));
  check(() => refuseUnkeptNetwork(placed, ports));
  check(() => refusePersonalWorkerRun(filled, owner));
  return { filled, environment };
}

/** Fills in what a child has from its parent. Its limits draw on those of the parent, and are checked where those are read. */
function withParent(request: RunAgentRequest, parent: Parent | undefined): RunAgentRequest {
  const { reasoning_level, approvals = [], harness_auth_secrets } = parent?.config ?? {};
  if (reasoning_level === undefined && approvals.length === 0 && harness_auth_secrets === undefined) return request;
  const level = reasoning_level === undefined ? {} : { reasoning_level };
  const rules = joinApprovals(approvals, request.config?.approvals);
  const auth = harness_auth_secrets === undefined ? {} : { harness_auth_secrets };
  return {
    ...request,
    config: { ...level, ...auth, ...request.config, ...(rules.length === 0 ? {} : { approvals: rules }) },
  };
}

function mergeMetadata(parent: Parent | undefined, request: RunAgentRequest): Readonly<Record<string, string>> {
  const metadata = { ...parent?.metadata, ...request.metadata };
  if (Object.keys(metadata).length > MAX_METADATA) {
    throw invalid("metadata", `must have at most ${MAX_METADATA} keys together with the parent's`);
  }
  return metadata;
}

/** Refuses what the schema of the request cannot, naming the field and the remedy. */
export function checkRequest(request: RunAgentRequest, check: RequestCheck = refuseAtOnce): void {
  check(() => requireTask(request));
  check(() => {
    if (request.attachments === undefined || request.images === undefined) return;
    throw invalid("images", "is the older name of attachments: send one of the two");
  });
  check(() => checkNamedModel(request));
  checkConfig(request, check);
}

function requireTask(request: RunAgentRequest): void {
  const hasSkill = getSkills(request).length > 0;
  if ((request.prompt ?? "").trim() !== "" || hasSkill || request.conversation_id !== undefined) return;
  throw invalid("prompt", "is required unless a skill or conversation_id is given");
}

/** Refuses a configuration that no run can have, also one that defaults were filled into. */
function checkConfig(request: Pick<RunAgentRequest, "config" | "execution_location">, check: RequestCheck): void {
  const { config = {} } = request;
  const { model_id, repositories, mcp_servers, worker_host } = config;
  check(() => {
    if (Buffer.byteLength(JSON.stringify(config)) <= CONFIG_BYTES) return;
    throw invalid("config", `must have at most ${CONFIG_BYTES} bytes as JSON`);
  });
  check(() => {
    if (model_id !== undefined) checkModel(model_id, "config.model_id");
  });
  check(() => checkFallbacks(request));
  check(() => checkOutputSchema(config.output_schema, "config.output_schema"));
  check(() => refuseDisks(repositories, "config.repositories"));
  check(() => refuseBlockedRepositories(repositories, "config.repositories"));
  check(() => refuseBlockedServers(mcp_servers, "config.mcp_servers"));
  check(() => checkWorkerHost(worker_host, "config.worker_host"));
  check(() => checkHarness(request));
  check(() => checkApprovals(request));
}

/** The skills of a request: `skill` wins over the configuration's. */
export function getSkills(request: RunAgentRequest): readonly string[] {
  if (request.skill !== undefined) return [request.skill];
  const { skill_spec, skills } = request.config ?? {};
  return skills ?? (skill_spec === undefined ? [] : [skill_spec]);
}

/** Resolves the configuration that the run shows: the request's with every default filled in. */
export function resolveConfig(request: RunAgentRequest): ResolvedAgentConfig {
  const { skill_spec: _, skills: __, worker_host, ...config }: AmbientAgentConfig = request.config ?? {};
  const skills = getSkills(request);
  const [first] = skills;
  const name = config.name ?? (first === undefined ? undefined : takeCharacters(skillName(first), NAME_LENGTH));
  const harnessModel = chooseHarnessModel(config);
  const modelId = harnessModel ?? config.harness?.model_id ?? config.model_id ?? defaultModel();
  if (config.budget_usd !== undefined && findPrice(modelId) === undefined) {
    throw invalid(
      "config.budget_usd",
      `cannot be kept with the model ${modelId}, whose price is not known; limit the run by max_total_tokens instead`,
    );
  }
  checkResolvedFallbacks(config, modelId);
  requireReadableOutput(config, modelId);
  return {
    ...config,
    ...(name === undefined ? {} : { name }),
    ...(namesWorker(worker_host) ? { worker_host } : {}),
    model_id: modelId,
    ...(config.harness === undefined || harnessModel === undefined
      ? {}
      : { harness: { ...config.harness, model_id: harnessModel } }),
    computer_use_enabled: config.computer_use_enabled ?? false,
    idle_timeout_minutes: config.idle_timeout_minutes ?? DEFAULT_IDLE_MINUTES,
    ...(first === undefined ? {} : { skill_spec: first, skills: [...skills] }),
  };
}

/** The skill's name in its spec: the directory of a SKILL.md, or what follows the colon. */
function skillName(spec: string): string {
  const place = spec.slice(spec.indexOf(":") + 1);
  const parts = place.split("/");
  return (parts.at(-1) === "SKILL.md" ? parts.at(-2) : parts.at(-1)) ?? place;
}

/** The sources that no caller may state, since the service itself creates such runs. */
const SERVICE_SOURCES: ReadonlySet<RunSourceType> = new Set(["SCHEDULED_AGENT", "ORCHESTRATION"]);

/** The source that a caller states, if it may state it; any other counts as API. */
function toSource(header: (name: string) => string | undefined, isChild: boolean): RunSourceType {
  if (isChild) return "ORCHESTRATION";
  const stated = header("x-run-source") ?? header("x-oz-api-source");
  const known = RUN_SOURCES.find((source) => source === stated);
  return known === undefined || SERVICE_SOURCES.has(known) ? "API" : known;
}
