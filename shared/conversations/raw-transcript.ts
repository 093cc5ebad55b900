import { invalid, notFound, RunyardError } from "#shared/errors.ts";
import { fileKeys } from "#shared/files/file-store.ts";
import { keepFormUpload } from "#shared/files/kept-upload.ts";
import { RUN_CAPS } from "#shared/records/run.ts";
import { countUnchanged, type ExecutingHead, isExecutingHead, type RunHead } from "#shared/records/run-head.ts";
import { changeExecution, changeRun } from "#shared/runs/change-run.ts";
import { getThirdParty } from "#shared/runs/harness-model.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import type { TranscriptRequest, UploadTarget } from "#shared/wire/harness.ts";
import {
  putConversationFile,
  putRawTranscript,
  type RawTranscript,
  readConversationFile,
  readRawTranscript,
  type TranscriptUpload,
} from "./raw-transcript-store.ts";
import { TRANSCRIPT_TYPE } from "./transcript.ts";

/** Bytes of a raw transcript. */
const MAX_BYTES = 67_108_864;

/** Declares that a third-party harness writes this run's conversation in its own format. A repeat changes nothing. */
export async function declareExternalConversation(
  first: ExecutingHead,
  format: string,
  ports: RunPorts,
): Promise<string> {
  const body = await ports.runs.body(first.run_id);
  await changeExecution(first, ports, async (head) => {
    const before = await readRawTranscript(head, ports.table);
    if (before?.format === format) return { result: undefined };
    // A transcript in another format is not valid in this one.
    const raw: RawTranscript = { format };
    return {
      change: {
        events: [],
        set: { heartbeat_at: ports.now(), external: true },
        also: { rawTranscript: putRawTranscript(head.run_id, raw) },
      },
      result: undefined,
    };
  });
  return body.conversation_id;
}

/**
 * Creates an upload of the raw transcript and returns its target. An upload with a size and a checksum becomes visible when the
 * request is repeated after the bytes have arrived; any other one with the next request, or when the run finishes.
 */
export async function createTranscriptUpload(
  first: ExecutingHead,
  request: TranscriptRequest,
  ports: RunPorts,
): Promise<UploadTarget> {
  const { conversation_id, size_bytes, sha256 } = request;
  if ((size_bytes === undefined) !== (sha256 === undefined)) {
    throw invalid(
      size_bytes === undefined ? "size_bytes" : "sha256",
      "is required if the other one of size_bytes and sha256 is given",
    );
  }
  const body = await ports.runs.body(first.run_id);
  if (body.conversation_id !== conversation_id) throw notFound("conversation");
  const harness = getThirdParty(body.config);
  if (first.external !== true) {
    if (harness === undefined) {
      throw invalid("conversation_id", "is a conversation of the default harness: call external-conversation first");
    }
    await declareExternalConversation(first, harness, ports);
  }
  const head: ExecutingHead = { ...first, external: true };
  await storeUploadedTranscript(head, ports);
  const described = size_bytes === undefined || sha256 === undefined ? {} : { size_bytes, sha256 };
  return toUploadTarget(await storeUpload(head, described, ports), ports);
}

/**
 * Stores an upload of the described bytes. It stays the same until they have arrived. No event records it, so the number of uploads
 * detects conflicts.
 */
function storeUpload(
  first: ExecutingHead,
  described: Pick<TranscriptUpload, "size_bytes" | "sha256">,
  ports: RunPorts,
): Promise<TranscriptUpload> {
  const isSame = (upload: TranscriptUpload | undefined): upload is TranscriptUpload =>
    upload?.execution_id === first.execution_id && upload.sha256 === described.sha256;
  return changeExecution(first, ports, async (head) => {
    const raw = await readRawTranscript(head, ports.table);
    if (raw === undefined) throw new Error("an external conversation has no record");
    if (isSame(raw.pending)) return { result: raw.pending };
    if (described.sha256 !== undefined && isSame(raw.stored)) return { result: raw.stored };
    if (head.transcripts >= RUN_CAPS.transcripts) {
      throw new RunyardError("resource_unavailable", {
        status: 429,
        detail: `a run stores at most ${RUN_CAPS.transcripts} raw transcripts`,
      });
    }
    const file = fileKeys.rawTranscript(head.run_id, head.execution_id, head.transcripts);
    const pending: TranscriptUpload = { execution_id: head.execution_id, file, ...described };
    return {
      change: {
        events: [],
        set: { heartbeat_at: ports.now(), transcripts: head.transcripts + 1 },
        if: { transcripts: countUnchanged(head.transcripts) },
        also: { rawTranscript: putRawTranscript(head.run_id, { ...raw, pending }) },
      },
      result: pending,
    };
  });
}

function toUploadTarget({ file, size_bytes, sha256 }: TranscriptUpload, { files }: RunPorts): Promise<UploadTarget> {
  return size_bytes === undefined || sha256 === undefined
    ? files.uploadForm(file, { mostBytes: MAX_BYTES, contentType: TRANSCRIPT_TYPE })
    : files.uploadTarget(file, { sizeBytes: size_bytes, sha256, contentType: TRANSCRIPT_TYPE });
}

/** Makes what the run's last execution has uploaded the raw transcript of the conversation. */
export async function storeUploadedTranscript(first: RunHead, ports: RunPorts): Promise<void> {
  const pending = (await readRawTranscript(first, ports.table))?.pending;
  if (pending === undefined || pending.execution_id !== first.execution_id) return;
  const size = await ports.files.size(pending.file);
  if (size === undefined || size !== (pending.size_bytes ?? size)) return;
  const file = pending.sha256 === undefined ? await keepFormUpload(pending.file, ports.files) : pending.file;
  const { conversation_id } = await ports.runs.body(first.run_id);
  await changeRun(first, ports, async (head) => {
    const raw = await readRawTranscript(head, ports.table);
    if (head.execution_id !== pending.execution_id || raw?.pending?.file !== pending.file) return { result: undefined };
    const { pending: _, ...rest } = raw;
    const stored: TranscriptUpload = { ...pending, file, size_bytes: size };
    const also = {
      rawTranscript: putRawTranscript(head.run_id, { ...rest, stored }),
      conversationFile: putConversationFile(conversation_id, { run_id: head.run_id, format: raw.format, file }),
    };
    return {
      change: { events: [], set: isExecutingHead(head) ? { heartbeat_at: ports.now() } : {}, also },
      result: undefined,
    };
  });
}

/** Finds the file with the raw transcript of a run; undefined if it has none. */
export async function findRawTranscript(head: RunHead, ports: RunPorts): Promise<string | undefined> {
  return (await readRawTranscript(head, ports.table))?.stored?.file;
}

/**
 * Finds the file with the raw transcript of a run's conversation, from this run or the one before.
 * @throws 400 if the default harness writes the conversation, 404 if there is no raw transcript yet
 */
export async function findConversationTranscript(head: RunHead, ports: RunPorts): Promise<string> {
  const body = await ports.runs.body(head.run_id);
  const file = await readConversationFile(body.conversation_id, ports.table);
  if (file !== undefined) return file;
  if (head.external !== true && getThirdParty(body.config) === undefined) {
    throw new RunyardError("invalid_request", {
      detail: "the default harness writes this conversation, and has no raw transcript",
    });
  }
  throw new RunyardError("resource_not_found", { detail: "the conversation has no raw transcript yet" });
}

/** Refuses to return a conversation that only its third-party harness can read. */
export function refuseUnreadable(head: RunHead): void {
  if (head.external !== true || head.messages > 0) return;
  throw new RunyardError("operation_not_supported", {
    detail: "a third-party harness wrote this conversation in its own format; read the raw transcript of the run",
  });
}
