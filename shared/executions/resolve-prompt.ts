import { toAttachedFiles } from "#shared/conversations/attached-files.ts";
import { cancelMessage, wasCancelled } from "#shared/conversations/cancelled-turn.ts";
import { readMessages, readPrompt } from "#shared/conversations/conversation.ts";
import { readConversationRuns } from "#shared/conversations/conversation-runs.ts";
import { readFollowups } from "#shared/conversations/read-followups.ts";
import { truncateMessages } from "#shared/conversations/truncate.ts";
import { canonicalJson } from "#shared/idempotency/canonical-json.ts";
import { sha256 } from "#shared/ids.ts";
import { models } from "#shared/models/models.ts";
import { listModelApis } from "#shared/models/providers.ts";
import { BEGINNING, type Checkpoint, loadCheckpoint, loadCheckpoints } from "#shared/records/checkpoint.ts";
import { heartbeatSeconds } from "#shared/records/run.ts";
import { findPush, type RunBody } from "#shared/records/run-body.ts";
import { type ExecutingHead, findPendingInterrupt, parseOwner } from "#shared/records/run-head.ts";
import { listConversationRuns } from "#shared/runs/conversation-store.ts";
import { shownConfig } from "#shared/runs/run-item.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { type InjectionPorts, readInjectedSecrets } from "#shared/secrets/injected-secrets.ts";
import { type Message, OPENING } from "#shared/wire/conversation.ts";
import type { ResolvePromptResponse } from "#shared/wire/harness.ts";
import { createRepositoryTokens, type TokenPorts } from "./repository-tokens.ts";
import { describeSetup, toSavedFiles } from "./setup-snapshots.ts";

export type PromptPorts = RunPorts & InjectionPorts & TokenPorts;

type Context = NonNullable<ResolvePromptResponse["context"]>;

/** Assembles what an execution needs to begin. It is the only response that contains values of secrets. */
export async function assemblePrompt(
  head: ExecutingHead,
  refusedTokens: readonly string[],
  ports: PromptPorts,
): Promise<ResolvePromptResponse> {
  const runId = head.run_id;
  const body = await ports.runs.body(runId);
  const { setup_commands, docker_image, variables, providers, network } = body;
  const { base_prompt = "" } = body.config;
  const interrupt = findPendingInterrupt(head);
  const checkpoint = await loadCheckpoint(head, ports);
  const [whole, { isCancelled, ...earlier }, workspace, setup, followups, secrets, tokens, attachments] =
    await Promise.all([
      readPrompt(body, ports),
      readEarlierMessages(head, body, checkpoint, ports),
      toWorkspace(checkpoint, ports),
      describeSetup(head, body, checkpoint, ports),
      head.followups > head.followups_stored ? readFollowups(head, head.followups_stored, ports) : [],
      readInjectedSecrets(body, parseOwner(head), refusedTokens, ports),
      createRepositoryTokens(body, parseOwner(head), ports),
      toAttachedFiles(body.attachments, ports.files),
    ]);
  return {
    // A cancelled prompt is part of the messages and must not be carried out.
    prompt: isCancelled ? "" : whole,
    ...(base_prompt === "" ? {} : { system_prompt: base_prompt }),
    context: {
      run_id: runId,
      execution_id: head.execution_id,
      conversation_id: body.conversation_id,
      title: body.title,
      ...shownCreator(body),
      mode: head.mode ?? body.mode,
      agent_config: { ...shownConfig(body.config), ...shownRepositories(body) },
      ...shownApis(body),
      ...(setup_commands && { setup_commands }),
      ...(docker_image && { docker_image }),
      ...(variables && { variables }),
      ...(providers && { providers }),
      ...(network && { network }),
      ...shownServers(body),
      ...(secrets.length === 0 ? {} : { secrets }),
      ...(tokens.length === 0 ? {} : { repository_tokens: tokens }),
      ...shownScope(head, body),
      ...shownPush(body),
      attachments,
      ...earlier,
      ...workspace,
      ...setup,
      next_sequence: head.messages + 1,
      followups,
      ...(interrupt === undefined ? {} : { interrupt }),
      next_heartbeat_seconds: heartbeatSeconds(false),
      finish_takes_messages: true,
    },
  };
}

/**
 * The sandbox clones by these URLs, also by those that were stored with credentials before such URLs were refused. A person who
 * executes the run locally may be a guest of the environment that they come from, so there they stay masked.
 */
function shownRepositories({
  config: { repositories },
  execution_location,
  own_branch: own,
}: RunBody): Pick<Context["agent_config"], "repositories"> {
  if (repositories === undefined || execution_location === "LOCAL") return {};
  if (own === undefined) return { repositories };
  return { repositories: repositories.map((one) => (one.url === own.url ? { ...one, ref: own.branch } : one)) };
}

function shownPush(body: RunBody): Pick<Context, "push"> {
  const push = findPush(body);
  return push === undefined ? {} : { push: { url: push.url, branch: push.branch } };
}

/** Only clones use what a machine keeps. */
function shownScope(head: ExecutingHead, { config }: RunBody): Pick<Context, "cache_scope"> {
  return (config.repositories ?? []).length === 0 ? {} : { cache_scope: sha256(canonicalJson(parseOwner(head))) };
}

function shownCreator({ creator: { type, display_name, email } }: RunBody): Pick<Context, "creator"> {
  return type === "user" && email !== undefined && email !== ""
    ? { creator: { name: display_name ?? email, email } }
    : {};
}

function shownApis({
  config: { model_id, fallback_model_ids = [], harness },
}: RunBody): Pick<Context, "model_apis" | "vision_models"> {
  const ids = [model_id, harness?.model_id, ...fallback_model_ids].filter((id) => id !== undefined);
  const model_apis = listModelApis(ids);
  const seeing = models().filter(({ id, vision_supported }) => vision_supported && ids.includes(id));
  return {
    ...(seeing.length === 0 ? {} : { vision_models: seeing.map(({ id }) => id) }),
    ...(Object.keys(model_apis).length === 0 ? {} : { model_apis }),
  };
}

/** The MCP servers with their values, except for a caller that executes the run: the values may belong to an identity. */
function shownServers({ config, execution_location }: RunBody): Pick<Context, "mcp_servers"> {
  const { mcp_servers } = config;
  return mcp_servers === undefined || execution_location === "LOCAL" ? {} : { mcp_servers };
}

/** Reads the messages of the earlier runs of the conversation and the earlier executions of this run. */
async function readEarlierMessages(
  head: ExecutingHead,
  body: RunBody,
  checkpoint: Checkpoint,
  ports: RunPorts,
): Promise<{ messages: Message[]; own_messages: number; isCancelled: boolean }> {
  const { conversation_id: id } = body;
  const ownMessages = head.messages > 0 ? await readMessages(head.run_id, checkpoint, ports) : [];
  const isCancelled = wasCancelled(ownMessages);
  const own = isCancelled ? [...(await toOpening(body, ports)), ...ownMessages] : ownMessages;
  const before = id === head.run_id ? [] : await readPreviousRuns(head.run_id, id, ports);
  return { messages: truncateMessages([...before, ...own]), own_messages: own.length, isCancelled };
}

async function readPreviousRuns(runId: string, conversationId: string, ports: RunPorts): Promise<Message[]> {
  const runs = await readConversationRuns(await listConversationRuns(conversationId, ports.table), ports);
  const previous = runs.filter(({ head }) => head.run_id !== runId);
  const checkpoints = await loadCheckpoints(
    previous.map(({ head }) => head.run_id),
    ports,
  );
  const conversations = previous.map(async ({ head, body }, index) => {
    const messages = await readMessages(head.run_id, checkpoints[index] ?? BEGINNING, ports);
    const cancelled = head.state === "CANCELLED" ? [cancelMessage(head.ended_at)] : [];
    return [...(await toOpening(body, ports)), ...messages, ...cancelled];
  });
  return (await Promise.all(conversations)).flat();
}

/** The prompt of a run as a message; it is not stored as one. */
async function toOpening(body: RunBody, ports: RunPorts): Promise<Message[]> {
  const prompt = await readPrompt(body, ports);
  return prompt === "" ? [] : [{ role: "user", content: [{ type: "text", text: prompt }], message_ids: [OPENING] }];
}

/** The committed workspace of an earlier execution, if any, with download URLs. */
async function toWorkspace({ generation, files }: Checkpoint, ports: RunPorts) {
  return generation === undefined ? {} : { checkpoint: { generation, files: await toSavedFiles(files, ports) } };
}
