import { type PlantingPorts, plantedSecrets } from "#shared/secrets/planted-secrets.ts";
import { keys } from "#shared/table/keys.ts";
import type { Message } from "#shared/wire/conversation.ts";
import type { ResolvePromptResponse } from "#shared/wire/harness.ts";
import { fullPrompt, messagesOf, runsOfConversation } from "./conversation.ts";
import { fittedMessages } from "./fitted.ts";
import { followupsAfter } from "./followups.ts";
import type { RunPorts } from "./ports.ts";
import { HEARTBEAT_SECONDS } from "./run.ts";
import { parseRunBody } from "./run-body.ts";
import { type ExecutingHead, ownerOf } from "./run-head.ts";
import { shownConfig } from "./run-item.ts";

export type PromptPorts = RunPorts & PlantingPorts;

/** All that an execution needs to begin its work: the only answer that values of secrets are in. */
export async function resolvePrompt(head: ExecutingHead, ports: PromptPorts): Promise<ResolvePromptResponse> {
  const runId = head.run_id;
  const item = await ports.table.get(keys.body(runId));
  if (item === undefined) throw new Error(`run ${runId} has no body`);
  const body = parseRunBody(item);
  const [prompt, earlier, followups, secrets, attachments] = await Promise.all([
    fullPrompt(body, ports),
    earlierMessages(head, body.conversation_id, ports),
    head.followups > head.followups_stored ? followupsAfter(runId, head.followups_stored, ports) : [],
    plantedSecrets(body, ownerOf(head), ports),
    Promise.all(
      body.attachments.map(async ({ attachment_id, file_name, mime_type, file }) => {
        const { url } = await ports.files.downloadUrl(file, { filename: file_name, contentType: mime_type });
        return { attachment_id, filename: file_name, download_url: url, mime_type };
      }),
    ),
  ]);
  return {
    prompt,
    ...(body.config.base_prompt === undefined ? {} : { system_prompt: body.config.base_prompt }),
    context: {
      run_id: runId,
      execution_id: head.execution_id,
      conversation_id: body.conversation_id,
      title: body.title,
      mode: body.mode,
      agent_config: shownConfig(body.config),
      ...(body.setup_commands === undefined ? {} : { setup_commands: body.setup_commands }),
      ...(secrets.length === 0 ? {} : { secrets }),
      attachments,
      messages: earlier,
      next_sequence: head.messages + 1,
      followups,
      next_heartbeat_seconds: HEARTBEAT_SECONDS,
    },
  };
}

/** What earlier runs of the conversation and earlier executions of this run have said; nothing is read where there is none. */
async function earlierMessages(head: ExecutingHead, conversationId: string, ports: RunPorts): Promise<Message[]> {
  const own = head.messages > 0 ? await messagesOf(head.run_id, ports) : [];
  if (conversationId === head.run_id) return fittedMessages(own);
  const runs = (await runsOfConversation(conversationId, ports)).filter((run) => run !== head.run_id);
  const before = await Promise.all(runs.map((run) => messagesOf(run, ports)));
  return fittedMessages([...before.flat(), ...own]);
}
