import { takeCharacters } from "#shared/characters.ts";
import { copySetup } from "#shared/environments/run-environment.ts";
import { fileKeys } from "#shared/files/file-store.ts";
import { readOrigin } from "#shared/http/audit/trail.ts";
import { sha256 } from "#shared/ids.ts";
import { deriveTitle } from "#shared/records/run.ts";
import { INLINE_BYTES, type RunBody, type StoredAttachment } from "#shared/records/run-body.ts";
import { resolveSecrets } from "#shared/secrets/run-secrets.ts";
import type { RunPlan } from "./plan-run.ts";

/** The characters of a long prompt that the table keeps. */
const PROMPT_PREVIEW_LENGTH = 1_000;

/** Whether the prompt is stored as a file, because it is too large for the table. */
export const isLongPrompt = (prompt: string | undefined): boolean => Buffer.byteLength(prompt ?? "") > INLINE_BYTES;

/** The file of a long prompt; `requestName` names the logical request, so that a repeat stores the same file. */
export const promptFile = (requestName: string, prompt: string): string | undefined =>
  isLongPrompt(prompt) ? fileKeys.prompt(requestName, sha256(prompt)) : undefined;

/** Builds the body of a planned run, whose attachments and long prompt are stored as files. */
export function toRunBody(
  runId: string,
  { request, owner, actors, parent, environment, conversation, config, metadata, source, skill, ...plan }: RunPlan,
  files: { readonly prompt: string | undefined; readonly attachments: StoredAttachment[] },
): RunBody {
  const { creator, executor, identity } = actors;
  const { prompt = "", title, mode = "normal", interactive = false, execution_location = "REMOTE" } = request;
  return {
    title: title?.trim() || deriveTitle(prompt, skill),
    prompt: files.prompt === undefined ? prompt : takeCharacters(prompt, PROMPT_PREVIEW_LENGTH),
    ...(files.prompt === undefined ? {} : { prompt_file: files.prompt }),
    ...copySetup(environment),
    ...resolveSecrets({ owner, creator, environment, identity, parent, config }),
    creator,
    executor,
    source,
    execution_location,
    conversation_id: conversation?.conversationId ?? runId,
    ...(parent === undefined ? {} : { parent_run_id: parent.runId }),
    ancestors: parent === undefined ? [] : [...parent.ancestors, parent.runId],
    mode,
    interactive,
    ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
    attachments: files.attachments,
    ...readOrigin(),
    ...(request.notify_url === undefined ? {} : { notify_url: request.notify_url }),
    ...(plan.traceparent === undefined ? {} : { traceparent: plan.traceparent }),
    ...(plan.setsUp ? { sets_up: true } : {}),
  };
}
