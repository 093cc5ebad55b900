import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import * as v from "valibot";
import type { AmbientAgentConfig } from "#shared/wire/config.ts";
import type { RunItem } from "#shared/wire/run.ts";
import { defineTool, type Tool, type ToolCall } from "../../engine/tool.ts";
import type { RunContext } from "../../setup/setup.ts";
import { messageOf } from "../../support/stop.ts";
import { cutBytes } from "../../support/text-limits.ts";
import type { RunsApi } from "./runs-api.ts";

export interface AgentsOptions {
  readonly runs: RunsApi;
  readonly context: Pick<RunContext, "agent_config" | "execution_id" | "mcp_servers">;
  /** Milliseconds since the epoch at which an agent has to stop waiting, so that its execution can be saved. */
  readonly waitUntil: number;
  /** Milliseconds between the first two looks at a run; they grow. @default 500 */
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
    v.description("How long to wait for the end. An hour when absent; what still works then goes on all the same."),
  ),
);
const RunId = v.pipe(v.string(), v.nonEmpty(), v.maxLength(128));

/** Tools that have other agents work on parts of the task, each as a run of its own. */
export function createAgentTools(options: AgentsOptions): Tool[] {
  return [createStartAgentTool(options), createWaitForAgentsTool(options), createMessageAgentTool(options)];
}

const createStartAgentTool = (options: AgentsOptions): Tool =>
  defineTool({
    name: "start_agent",
    description:
      "Starts another agent as a run of its own (child run) and waits for its end, or with wait false leaves it to work meanwhile: then use " +
      "wait_for_agents. It knows nothing of this conversation and has a workspace of its own with fresh clones of the repositories, so tell it all that it " +
      "needs, push what it is to build on, and have it push what it makes. It may have what this run has (environment, secrets, repositories, budget), and no " +
      "more. Answers its state, its last words and its artifacts.",
    category: "integration",
    readsOnly: false,
    input: v.object({
      prompt: v.pipe(v.string(), v.nonEmpty(), v.description("The whole task, in Markdown.")),
      title: v.optional(v.pipe(v.string(), v.nonEmpty(), v.maxLength(512))),
      skill: v.optional(v.pipe(v.string(), v.nonEmpty(), v.description("owner/repo:name of a skill to start from."))),
      model_id: v.optional(v.pipe(v.string(), v.nonEmpty(), v.description("This run's model when absent."))),
      budget_usd: v.optional(v.pipe(v.number(), v.description("What it may spend of this run's budget."))),
      repositories: v.optional(
        v.pipe(
          v.array(v.object({ url: v.string(), ref: v.optional(v.string()), path: v.optional(v.string()) })),
          v.description("Some of this run's repositories, at any branch or commit. All of them when absent."),
        ),
      ),
      mcp_servers: v.optional(
        v.pipe(
          v.array(v.string()),
          v.description("Names of this run's MCP servers that it is to have. None when absent."),
        ),
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
      "Waits until each of these agents, started by start_agent, has come to its end, and answers for each its state, its last words and its artifacts.",
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
            return { run_id: runId, error: messageOf(error) };
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
      "Sends a message to an agent that was started by start_agent: one that works takes it up next, one that is BLOCKED has its answer by it, and one that " +
      "has ended goes on. Use wait_for_agents afterwards.",
    category: "integration",
    readsOnly: false,
    input: v.object({ run_id: RunId, message: v.pipe(v.string(), v.nonEmpty()) }),
    async run({ run_id, message }, call) {
      await runs.followUp(run_id, message, createIdempotencyKey(context, call));
      return { output: { run_id, sent: true } };
    },
  });

/** A name of the request; ids of uses are a model's, and might be anything. */
const createIdempotencyKey = ({ execution_id }: AgentsOptions["context"], { id }: ToolCall): string =>
  createHash("sha256").update(`${execution_id} ${id}`).digest("hex");

interface ChildWishes {
  readonly model_id?: string | undefined;
  readonly budget_usd?: number | undefined;
  readonly repositories?: readonly { url: string; ref?: string | undefined; path?: string | undefined }[] | undefined;
  readonly mcp_servers?: readonly string[] | undefined;
}

/** What a child is configured with: the service itself refuses whatever goes beyond its parent. */
function buildChildConfig(
  wishes: ChildWishes,
  { agent_config, mcp_servers = {} }: AgentsOptions["context"],
): AmbientAgentConfig {
  const model = wishes.model_id ?? agent_config.model_id;
  const repositories = wishes.repositories?.map(defined) ?? agent_config.repositories;
  const servers = wishes.mcp_servers?.map((name) => {
    const server = mcp_servers[name];
    if (server === undefined) throw new Error(`mcp_servers: this run has none that is called ${name}`);
    return [name, server] as const;
  });
  return {
    ...(model === undefined ? {} : { model_id: model }),
    ...(wishes.budget_usd === undefined ? {} : { budget_usd: wishes.budget_usd }),
    ...(repositories === undefined ? {} : { repositories }),
    ...(servers === undefined ? {} : { mcp_servers: Object.fromEntries(servers) }),
  };
}

const defined = ({ url, ref, path }: { url: string; ref?: string | undefined; path?: string | undefined }) => ({
  url,
  ...(ref === undefined ? {} : { ref }),
  ...(path === undefined ? {} : { path }),
});

/** Waits for the end of a run, for so long, and tells how it stands then. */
async function waitForOutcome(
  runId: string,
  timeoutSeconds = DEFAULT_WAIT_SECONDS,
  { runs, waitUntil, pollMs = 500 }: AgentsOptions,
  { signal }: ToolCall,
): Promise<Record<string, unknown>> {
  const until = Math.min(Date.now() + timeoutSeconds * 1000, waitUntil);
  let run = await runs.read(runId);
  for (let pause = pollMs; !hasEnded(run) && Date.now() + pause <= until; pause = Math.min(pause * 1.5, MAX_POLL_MS)) {
    await sleep(pause, undefined, { signal }).catch(() => signal.throwIfAborted());
    run = await runs.read(runId);
  }
  const told = {
    run_id: runId,
    title: run.title,
    state: run.state,
    ...(run.status_message === undefined ? {} : { message: run.status_message.message }),
    ...(run.request_usage === undefined ? {} : { usage: run.request_usage }),
  };
  if (!hasEnded(run)) return { ...told, note: "it still works: wait for it again by wait_for_agents" };
  return {
    ...told,
    text: cutBytes(await runs.lastWords(runId), TEXT_BYTES),
    artifacts: (run.artifacts ?? [])
      .slice(0, MAX_ARTIFACTS)
      .map(({ artifact_type, data }) => ({ artifact_type, ...data })),
    ...(run.state === "BLOCKED"
      ? { note: "it asks something: answer it by message_agent, then wait for it again" }
      : {}),
  };
}

const hasEnded = ({ state }: RunItem): boolean =>
  state !== "QUEUED" && state !== "PENDING" && state !== "CLAIMED" && state !== "INPROGRESS";
