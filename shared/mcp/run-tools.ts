import * as v from "valibot";
import { toFollowupResponse } from "#shared/conversations/followup-receipt.ts";
import { submitFollowup } from "#shared/conversations/followups.ts";
import { showRun } from "#shared/conversations/show-run.ts";
import { waitForEnd } from "#shared/conversations/wait-for-end.ts";
import { parseFields } from "#shared/http/request.ts";
import { toIdempotentRequest } from "#shared/idempotency/idempotent-request.ts";
import { createRateLimitToken } from "#shared/limits/token-bucket.ts";
import { toPrincipalKey } from "#shared/principals/principal.ts";
import { cancelOneRun } from "#shared/runs/cancel-run.ts";
import { steerableRun, visibleRun } from "#shared/runs/read-run.ts";
import { submitRun } from "#shared/runs/submit-run.ts";
import { BudgetUsd } from "#shared/wire/config.ts";
import { ReasoningLevel, RunLimits } from "#shared/wire/limits/run-limits.ts";
import { Metadata } from "#shared/wire/metadata.ts";
import { OutputSchema } from "#shared/wire/output/output-schema.ts";
import { Id, text, textOfBytes } from "#shared/wire/primitives.ts";
import { RunMode } from "#shared/wire/run.ts";
import { FollowupPolicy } from "#shared/wire/runs/followup.ts";
import { RunAgentRequest } from "#shared/wire/runs/new-run.ts";
import { describeNext, toToolRun } from "./show-run.ts";
import { everyone, optional, RunId, type ToolCall, tool, UNTRUSTED } from "./tool.ts";

/** Seconds that wait_for_run takes at most: API Gateway gives up after 30. */
const MAX_WAIT_SECONDS = 25;

const RequestKey = optional(
  v.pipe(v.string(), v.regex(/^[\x20-\x7e]{1,255}$/, "must have 1 to 255 printable ASCII characters")),
  "A text of your choice that names this request. Repeating a call with the same text and arguments does nothing a second time.",
);

/** The headers of the call, with the key of the arguments. */
const withKey =
  ({ header }: ToolCall, key: string | undefined, source?: string) =>
  (name: string): string | undefined => {
    if (name === "idempotency-key") return key ?? header(name);
    return name === "x-run-source" && source !== undefined ? source : header(name);
  };

/** The arguments of start_run that are members of the configuration. */
const CONFIG = {
  environment_id: optional(Id, "Where the agent works: the uid of an environment from list_environments."),
  model_id: optional(Id, "The model. Leave it out for the default."),
  reasoning_level: optional(ReasoningLevel, "How much the model reasons. Leave it out for the default."),
  skill_spec: optional(text(512, 1), "A skill to start from, as owner/repo:skill-name."),
  output_schema: optional(
    OutputSchema,
    "The JSON Schema of the answer that you need. get_response then returns the answer as JSON in untrusted.structured.",
  ),
  budget_usd: optional(BudgetUsd, "What the run's model calls may cost, in US dollars."),
  timeout_minutes: optional(RunLimits.timeout_minutes.wrapped, "Minutes after which the run ends as FAILED."),
  max_steps: optional(RunLimits.max_steps.wrapped, "Responses of the model after which the run ends as FAILED."),
  max_total_tokens: optional(RunLimits.max_total_tokens.wrapped, "Tokens after which the run ends as FAILED."),
};

const startRun = tool({
  name: "start_run",
  title: "Start a run",
  description:
    "Starts a cloud agent on a task and returns its run_id at once. Use it to delegate work that takes minutes or hours, such as a " +
    "change in a repository. The prompt must say everything that the agent needs: it does not see this conversation. Pass an " +
    "environment_id from list_environments if the task needs a repository or tools. Next, call wait_for_run until has_ended is true, " +
    "then get_response.",
  operation: "POST /agent/runs",
  who: everyone,
  scope: "runs:write",
  isReadOnly: false,
  input: v.strictObject({
    prompt: v.pipe(textOfBytes(262_144, 1), v.metadata({ description: "The task, complete in itself." })),
    title: optional(text(512), "A short name for lists."),
    ...CONFIG,
    agent_identity_uid: optional(Id, "Who the agent acts as: the uid of an agent from list_agents."),
    mode: optional(RunMode, "`plan` only makes a plan, `orchestrate` delegates to child runs."),
    parent_run_id: optional(Id, "Makes the run a child of this run. With a run's key, it is that run by default."),
    conversation_id: optional(Id, "Continues the conversation of an earlier run that has ended."),
    metadata: optional(Metadata, "Texts by name, to find the run by."),
    idempotency_key: RequestKey,
  }),
  async run({ idempotency_key: key, ...input }, call, ports) {
    const members = Object.entries(input);
    const isConfig = ([name]: readonly [string, unknown]) => name in CONFIG;
    const sent = {
      ...Object.fromEntries(members.filter((member) => !isConfig(member))),
      config: Object.fromEntries(members.filter(isConfig)),
    };
    const { principal } = call;
    const rateLimitToken = createRateLimitToken(toPrincipalKey(principal), "create", ports.rates);
    const body = parseFields(RunAgentRequest, sent);
    const header = withKey(call, key, "MCP");
    const { response, replayed } = await submitRun({ body, principal, header, rateLimitToken }, ports);
    const waits = response.at_capacity === true ? " The team is at capacity, so it waits for a place." : "";
    const state = `Run ${response.run_id} is ${response.state}.${waits}`;
    return {
      summary: `${state} Call wait_for_run with this run_id until it has ended.`,
      content: { run_id: response.run_id, state: response.state, at_capacity: response.at_capacity ?? false, replayed },
    };
  },
});

const getRun = tool({
  name: "get_run",
  title: "Get a run",
  description:
    "Returns the state, cost and description of one run. Use it to look at a run once; to wait for its end, use wait_for_run. The " +
    "agent's answer is in get_response.",
  operation: "GET /agent/runs/{runId}",
  who: everyone,
  scope: "runs:read",
  isReadOnly: true,
  input: v.strictObject({ run_id: RunId }),
  async run({ run_id: runId }, { principal }, ports) {
    const item = await showRun(await visibleRun(runId, principal, ports), ports);
    return { summary: describeNext(item), content: { notice: UNTRUSTED, run: toToolRun(item) } };
  },
});

const WaitTime = v.pipe(
  v.number(),
  v.minValue(0, "must be at least 0"),
  v.maxValue(MAX_WAIT_SECONDS, `must be at most ${MAX_WAIT_SECONDS}`),
);

const waitForRun = tool({
  name: "wait_for_run",
  title: "Wait for a run",
  description:
    `Waits up to ${MAX_WAIT_SECONDS} seconds for a run to end, and returns it either way. While has_ended is false, call it again; ` +
    "a run may take many calls. Then read get_response.",
  operation: "GET /agent/runs/{runId}",
  who: everyone,
  scope: "runs:read",
  isReadOnly: true,
  input: v.strictObject({
    run_id: RunId,
    timeout_seconds: optional(WaitTime, `How long to wait at most; ${MAX_WAIT_SECONDS} by default.`),
  }),
  async run({ run_id: runId, timeout_seconds: seconds = MAX_WAIT_SECONDS }, call, ports) {
    await visibleRun(runId, call.principal, ports);
    await waitForEnd(runId, seconds, ports);
    const item = await showRun(await visibleRun(runId, await call.authenticateAgain(), ports), ports);
    return { summary: describeNext(item), content: { notice: UNTRUSTED, run: toToolRun(item) } };
  },
});

const sendFollowup = tool({
  name: "send_followup",
  title: "Send a follow-up",
  description:
    "Sends a message to a run: to answer its question, correct it, or continue it after its end. Returns the outcome: `live_session` " +
    "(the agent gets it in its next turn), `queued_prompt` (with the first turn), `handoff_execution` (the ended run continues) or " +
    "`queue_pending` (it waits behind another message or for capacity). Next, call wait_for_run.",
  operation: "POST /agent/runs/{runId}/followups",
  who: everyone,
  scope: "runs:write",
  isReadOnly: false,
  input: v.strictObject({
    run_id: RunId,
    message: v.pipe(textOfBytes(262_144, 1), v.metadata({ description: "The message to the agent." })),
    policy: optional(
      FollowupPolicy,
      "`enqueue` waits for the end of the turn, `interrupt` ends it, `reject` fails while one goes on.",
    ),
    idempotency_key: RequestKey,
  }),
  async run({ run_id: runId, idempotency_key: key, ...body }, call, ports) {
    const { principal } = call;
    const run = await steerableRun(runId, principal, ports);
    const once = toIdempotentRequest(withKey(call, key), principal, `followup:${runId}`, body);
    const rateLimitToken = createRateLimitToken(toPrincipalKey(principal), "followup", ports.rates);
    const { receipt, replayed } = await submitFollowup(
      run,
      body,
      { principal, once, rateLimitToken, header: call.header },
      ports,
    );
    const response = toFollowupResponse(receipt);
    return {
      summary: `The message to run ${response.run_id} is stored (${response.outcome}). Call wait_for_run next.`,
      content: { ...response, replayed },
    };
  },
});

const cancelRun = tool({
  name: "cancel_run",
  title: "Cancel a run",
  description:
    "Cancels a run that has not ended and stops its processes. What it has done is kept. A run that is just starting may respond that " +
    "it cannot be cancelled yet: call the tool again, or set force.",
  operation: "POST /agent/runs/{runId}/cancel",
  who: everyone,
  scope: "runs:write",
  isReadOnly: false,
  input: v.strictObject({
    run_id: RunId,
    force: optional(v.boolean(), "Cancels a run that is starting or that a self-hosted worker executes as well."),
  }),
  async run({ run_id: runId, force = false }, call, ports) {
    const { principal } = call;
    const { head, body } = await steerableRun(runId, principal, ports);
    const once = toIdempotentRequest(call.header, principal, `cancel:${runId}`, { force });
    const { replayed } = await cancelOneRun({ head, body, principal, force, once }, ports);
    return { summary: `Run ${runId} is cancelled.`, content: { run_id: runId, replayed } };
  },
});

/** The tools that start, read and steer runs. */
export const RUN_TOOLS = [startRun, getRun, waitForRun, sendFollowup, cancelRun] as const;
