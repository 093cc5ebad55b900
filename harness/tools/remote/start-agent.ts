import { setTimeout as sleep } from "node:timers/promises";
import * as v from "valibot";
import type { AmbientAgentConfig } from "#shared/wire/config.ts";
import type { RunItem } from "#shared/wire/run.ts";
import { defineTool, type Tool, type ToolCall } from "../../engine/tool.ts";
import type { RunContext } from "../../setup/run-context.ts";
import { createHash } from "../../support/lazy-crypto.ts";
import { formatError } from "../../support/stop.ts";
import { cutBytes } from "../../support/text-limits.ts";
import type { RunsApi } from "./runs-api.ts";

export interface AgentsOptions {
  readonly runs: RunsApi;
  readonly context: Pick<RunContext, "agent_config" | "execution_id" | "mcp_servers">;
  /** Milliseconds since the epoch at which waiting must end, so that the execution can be saved. */
  readonly waitUntil: number;
  /** Milliseconds between the first two polls of a run; later intervals are longer. @default 500 */
  readonly pollMs?: number;
}

const DEFAULT_WAIT_SECONDS = 3_600;
const MAX_WAIT_SECONDS = 21_600;
const MAX_AGENTS = 20;
const MAX_POLL_MS = 10_000;
const TEXT_BYTES = 32 * 1024;
const MAX_ARTIFACTS = 50;

const Seconds = v.optional(
  v.pipe(
    v.number(),
    v.integer(),
    v.minValue(1),
    v.maxValue(MAX_WAIT_SECONDS),
    v.description("How long to wait for the end. Default: an hour. An agent that is still running then continues."),
  ),
);
const RunId = v.pipe(v.string(), v.nonEmpty(), v.maxLength(128));

/** Creates the tools that delegate parts of the task to other agents, each in a child run. */
export function createAgentTools(options: AgentsOptions): Tool[] {
  return [createStartAgentTool(options), createWaitForAgentsTool(options), createMessageAgentTool(options)];
}

const createStartAgentTool = (options: AgentsOptions): Tool =>
  defineTool({
    name: "start_agent",
    description:
      "Starts another agent as a child run and waits for its end, or, if wait is false, returns immediately: then use wait_for_agents. The agent " +
      "does not know this conversation and has its own workspace with new clones of the repositories, so include everything that it " +
      "needs, push what it builds on, and tell it to push its results. It has at most what this run has (environment, secrets, repositories, " +
      "budget). Returns its state, its final message and its artifacts.",
    category: "integration",
    readsOnly: false,
    input: v.object({
      prompt: v.pipe(v.string(), v.nonEmpty(), v.description("The complete task, in Markdown.")),
      title: v.optional(v.pipe(v.string(), v.nonEmpty(), v.maxLength(512))),
      skill: v.optional(v.pipe(v.string(), v.nonEmpty(), v.description("owner/repo:name of a skill to start from."))),
      model_id: v.optional(v.pipe(v.string(), v.nonEmpty(), v.description("Default: this run's model."))),
      budget_usd: v.optional(v.pipe(v.number(), v.description("The part of this run's budget that it may spend."))),
      repositories: v.optional(
        v.pipe(
          v.array(v.object({ url: v.string(), ref: v.optional(v.string()), path: v.optional(v.string()) })),
          v.description("Some of this run's repositories, at any branch or commit. Default: all of them."),
        ),
      ),
      mcp_servers: v.optional(
        v.pipe(v.array(v.string()), v.description("Names of this run's MCP servers that it gets. Default: none.")),
      ),
      wait: v.optional(v.boolean()),
      timeout_seconds: Seconds,
    }),
    async run({ wait = true, timeout_seconds, prompt, title, skill, ...config }, call) {
      const { runs, context } = options;
      const body = {
        prompt,
        config: buildChildConfig(config, context),
        ...(title === undefined ? {} : { title }),
        ...(skill === undefined ? {} : { skill }),
      };
      const runId = await runs.create(body, createIdempotencyKey(context, call));
      if (!wait) return { output: { run_id: runId, state: "QUEUED" } };
      return { output: await waitForOutcome(runId, timeout_seconds, options, call) };
    },
  });

const createWaitForAgentsTool = (options: AgentsOptions): Tool =>
  defineTool({
    name: "wait_for_agents",
    description:
      "Waits until these agents, started with start_agent, have ended. Returns the state, the final message and the artifacts of each.",
    category: "integration",
    readsOnly: true,
    input: v.object({
      run_ids: v.pipe(v.array(RunId), v.minLength(1), v.maxLength(MAX_AGENTS)),
      timeout_seconds: Seconds,
    }),
    async run({ run_ids, timeout_seconds }, call) {
      const agents = await Promise.all(
        run_ids.map((runId) =>
          waitForOutcome(runId, timeout_seconds, options, call).catch((error: unknown) => {
            call.signal.throwIfAborted();
            return { run_id: runId, error: formatError(error) };
          }),
        ),
      );
      return { output: { agents } };
    },
  });

const createMessageAgentTool = ({ runs, context }: AgentsOptions): Tool =>
  defineTool({
    name: "message_agent",
    description:
      "Sends a message to an agent that was started with start_agent. A running agent handles it next, a BLOCKED agent gets it as the answer, and " +
      "an ended agent continues. Use wait_for_agents afterwards.",
    category: "integration",
    readsOnly: false,
    input: v.object({ run_id: RunId, message: v.pipe(v.string(), v.nonEmpty()) }),
    async run({ run_id, message }, call) {
      await runs.followUp(run_id, message, createIdempotencyKey(context, call));
      return { output: { run_id, sent: true } };
    },
  });

/** Hashes the id of the tool call, because a model may send any text as an id. */
const createIdempotencyKey = ({ execution_id }: AgentsOptions["context"], { id }: ToolCall): string =>
  createHash("sha256").update(`${execution_id} ${id}`).digest("hex");

type Repository = NonNullable<AmbientAgentConfig["repositories"]>[number];

interface RequestedRepository {
  readonly url: string;
  readonly ref?: string | undefined;
  readonly path?: string | undefined;
}

interface RequestedChild {
  readonly model_id?: string | undefined;
  readonly budget_usd?: number | undefined;
  readonly repositories?: readonly RequestedRepository[] | undefined;
  readonly mcp_servers?: readonly string[] | undefined;
}

/** Builds the configuration of a child. The service refuses rights that the parent does not have. */
function buildChildConfig(
  requested: RequestedChild,
  { agent_config, mcp_servers = {} }: AgentsOptions["context"],
): AmbientAgentConfig {
  const model = requested.model_id ?? agent_config.model_id;
  const own = agent_config.repositories;
  const repositories =
    requested.repositories?.map((repository) =>
      toRepository(
        repository,
        own?.find(({ url }) => url === repository.url),
      ),
    ) ?? own;
  const servers = requested.mcp_servers?.map((name) => {
    const server = mcp_servers[name];
    if (server === undefined) throw new Error(`mcp_servers: this run has no server ${name}`);
    return [name, server] as const;
  });
  return {
    ...(model === undefined ? {} : { model_id: model }),
    ...(requested.model_id === undefined && agent_config.fallback_model_ids !== undefined
      ? { fallback_model_ids: agent_config.fallback_model_ids }
      : {}),
    ...(requested.budget_usd === undefined ? {} : { budget_usd: requested.budget_usd }),
    ...(repositories === undefined ? {} : { repositories }),
    ...(servers === undefined ? {} : { mcp_servers: Object.fromEntries(servers) }),
  };
}

/** Converts a repository that the model names. It is read and cloned as the run's own repository is. */
function toRepository({ url, ref, path }: RequestedRepository, own: Repository | undefined): Repository {
  const { ref: _, path: __, ...kept } = own ?? { url };
  return { ...kept, url, ...(ref === undefined ? {} : { ref }), ...(path === undefined ? {} : { path }) };
}

const POLL_MS = 500;
const POLL_FACTOR = 1.5;

/** Waits for the end of a run up to a time limit, and returns its state. */
async function waitForOutcome(
  runId: string,
  timeoutSeconds = DEFAULT_WAIT_SECONDS,
  { runs, waitUntil, pollMs = POLL_MS }: AgentsOptions,
  { signal }: ToolCall,
): Promise<Record<string, unknown>> {
  const until = Math.min(Date.now() + timeoutSeconds * 1000, waitUntil);
  let run = await runs.read(runId);
  for (
    let pause = pollMs;
    !hasEnded(run) && Date.now() + pause <= until;
    pause = Math.min(pause * POLL_FACTOR, MAX_POLL_MS)
  ) {
    await sleep(pause, undefined, { signal }).catch(() => signal.throwIfAborted());
    run = await runs.read(runId);
  }
  const result = {
    run_id: runId,
    title: run.title,
    state: run.state,
    ...(run.status_message === undefined ? {} : { message: run.status_message.message }),
    ...(run.request_usage === undefined ? {} : { usage: run.request_usage }),
  };
  if (!hasEnded(run)) return { ...result, note: "it is still running: wait for it again with wait_for_agents" };
  return {
    ...result,
    text: cutBytes(await runs.readFinalMessage(runId), TEXT_BYTES),
    artifacts: (run.artifacts ?? [])
      .slice(0, MAX_ARTIFACTS)
      .map(({ artifact_type, data }) => ({ artifact_type, ...data })),
    ...(run.state === "BLOCKED"
      ? { note: "it asks a question: answer with message_agent, then wait for it again" }
      : {}),
  };
}

const hasEnded = ({ state }: RunItem): boolean =>
  state !== "QUEUED" && state !== "PENDING" && state !== "CLAIMED" && state !== "INPROGRESS";
