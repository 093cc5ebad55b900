import * as v from "valibot";
import { invalid, notFound, RunyardError } from "#shared/errors.ts";
import { fileKeys } from "#shared/files/file-store.ts";
import { RUN_CAPS } from "#shared/records/run.ts";
import type { ExecutingHead, RunHead } from "#shared/records/run-head.ts";
import { changeExecution } from "#shared/runs/change-run.ts";
import { thirdPartyOf } from "#shared/runs/harness-model.ts";
import type { RunPorts } from "#shared/runs/ports.ts";
import { keys } from "#shared/table/keys.ts";
import type { Item } from "#shared/table/table.ts";
import type { TranscriptRequest, UploadTarget } from "#shared/wire/harness.ts";
import { TRANSCRIPT_TYPE } from "./transcript.ts";

/** Bytes of a raw transcript. */
const MAX_BYTES = 67_108_864;

const Upload = v.object({
  execution_id: v.string(),
  file: v.string(),
  /** Absent where the harness did not know them when it asked. */
  size_bytes: v.exactOptional(v.number()),
  sha256: v.exactOptional(v.string()),
});

/** What a harness of others keeps of a run's conversation in its own format. */
const Raw = v.object({
  format: v.string(),
  /** Places that were made so far. */
  uploads: v.number(),
  /** Seen by nobody. */
  pending: v.exactOptional(Upload),
  stored: v.exactOptional(Upload),
});
type Raw = v.InferOutput<typeof Raw>;
type Upload = v.InferOutput<typeof Upload>;

const Pointer = v.object({ file: v.string() });

const parsed = <S extends v.GenericSchema>(schema: S, item: Item | undefined): v.InferOutput<S> | undefined =>
  item === undefined ? undefined : v.parse(schema, item);

/** external-conversation: a harness of others writes this run's conversation, in a format of its own. Again: no change. */
export async function declareExternal(first: ExecutingHead, format: string, ports: RunPorts): Promise<string> {
  const body = await ports.runs.body(first.run_id);
  await changeExecution(first, ports, async (head) => {
    const before = await rawOf(head, ports);
    if (before?.format === format) return { result: undefined };
    // What another harness wrote is no transcript in this format.
    const raw: Raw = { format, uploads: before?.uploads ?? 0 };
    return {
      change: { events: [], set: { heartbeat_at: ports.now(), external: true }, also: [putRaw(head, raw)] },
      result: undefined,
    };
  });
  return body.conversation_id;
}

/**
 * transcript: makes a place for the raw transcript and answers where to upload it. Described by its length and checksum it is
 * seen once the same call comes again and the bytes are there; else with the next call, or with finish-task.
 */
export async function placeTranscript(
  first: ExecutingHead,
  request: TranscriptRequest,
  ports: RunPorts,
): Promise<UploadTarget> {
  const { conversation_id, size_bytes, sha256 } = request;
  if ((size_bytes === undefined) !== (sha256 === undefined)) {
    throw invalid(size_bytes === undefined ? "size_bytes" : "sha256", "is given with the other, or neither is");
  }
  const body = await ports.runs.body(first.run_id);
  if (body.conversation_id !== conversation_id) throw notFound("conversation");
  const harness = thirdPartyOf(body.config);
  if (first.external !== true) {
    if (harness === undefined) {
      throw invalid("conversation_id", "is a conversation of the default harness: call external-conversation first");
    }
    await declareExternal(first, harness, ports);
  }
  const head: ExecutingHead = { ...first, external: true };
  await storeUploaded(head, ports);
  const described = size_bytes === undefined || sha256 === undefined ? {} : { size_bytes, sha256 };
  return targetOf(await placeFor(head, described, ports), ports);
}

/** The place of these bytes, or of whatever comes, which stays the same until they are there. */
function placeFor(
  first: ExecutingHead,
  described: Pick<Upload, "size_bytes" | "sha256">,
  ports: RunPorts,
): Promise<Upload> {
  const isSame = (upload: Upload | undefined): upload is Upload =>
    upload?.execution_id === first.execution_id && upload.sha256 === described.sha256;
  return changeExecution(first, ports, async (head) => {
    const raw = await rawOf(head, ports);
    if (raw === undefined) throw new Error("an external conversation has no record");
    if (isSame(raw.pending)) return { result: raw.pending };
    if (described.sha256 !== undefined && isSame(raw.stored)) return { result: raw.stored };
    if (raw.uploads >= RUN_CAPS.transcripts) {
      throw new RunyardError("resource_unavailable", {
        status: 429,
        detail: `a run takes ${RUN_CAPS.transcripts} raw transcripts`,
      });
    }
    const file = fileKeys.rawTranscript(head.run_id, head.execution_id, raw.uploads);
    const pending: Upload = { execution_id: head.execution_id, file, ...described };
    const next: Raw = { ...raw, uploads: raw.uploads + 1, pending };
    return { change: { events: [], set: { heartbeat_at: ports.now() }, also: [putRaw(head, next)] }, result: pending };
  });
}

function targetOf({ file, size_bytes, sha256 }: Upload, { files }: RunPorts): Promise<UploadTarget> {
  return size_bytes === undefined || sha256 === undefined
    ? files.uploadForm(file, { mostBytes: MAX_BYTES, contentType: TRANSCRIPT_TYPE })
    : files.uploadTarget(file, { sizeBytes: size_bytes, sha256, contentType: TRANSCRIPT_TYPE });
}

/** What the execution has uploaded becomes the conversation's raw transcript. */
export async function storeUploaded(first: ExecutingHead, ports: RunPorts): Promise<void> {
  const pending = (await rawOf(first, ports))?.pending;
  if (pending?.execution_id !== first.execution_id) return;
  const size = await ports.files.size(pending.file);
  if (size === undefined || size !== (pending.size_bytes ?? size)) return;
  const file = await settled(pending, ports);
  const { conversation_id } = await ports.runs.body(first.run_id);
  await changeExecution(first, ports, async (head) => {
    const raw = await rawOf(head, ports);
    if (raw?.pending?.file !== pending.file) return { result: undefined };
    const { pending: _, ...rest } = raw;
    const stored: Upload = { ...pending, file, size_bytes: size };
    const pointer = { ...keys.conversationRaw(conversation_id), v: 1, run_id: head.run_id, format: raw.format, file };
    const also = [putRaw(head, { ...rest, stored }), { kind: "put", item: pointer } as const];
    return { change: { events: [], set: { heartbeat_at: ports.now() }, also }, result: undefined };
  });
}

/** A form can be sent again while it lives, so what it brought is kept under another key, for which there is none. */
async function settled({ file, sha256 }: Upload, { files }: RunPorts): Promise<string> {
  if (sha256 !== undefined) return file;
  const kept = `${file}.kept`;
  if ((await files.size(kept)) === undefined) await files.copy(file, kept);
  return kept;
}

/** The file with the raw transcript of a run; undefined where it has none. */
export async function rawTranscriptOf(head: RunHead, ports: RunPorts): Promise<string | undefined> {
  return (await rawOf(head, ports))?.stored?.file;
}

/**
 * The file with the raw transcript of the conversation that a run is part of: its own, or that of the run before.
 * Refuses with 400 where the default harness writes it, and with 404 where there is none yet.
 */
export async function conversationTranscript(head: RunHead, ports: RunPorts): Promise<string> {
  const body = await ports.runs.body(head.run_id);
  const pointer = parsed(Pointer, await ports.table.get(keys.conversationRaw(body.conversation_id)));
  if (pointer !== undefined) return pointer.file;
  if (head.external !== true && thirdPartyOf(body.config) === undefined) {
    throw new RunyardError("invalid_request", {
      detail: "the conversation is written by the default harness, which has no raw transcript of its own",
    });
  }
  throw new RunyardError("resource_not_found", { detail: "the conversation has no raw transcript yet" });
}

/** Refuses to show the conversation of a run that only its harness can read. */
export function refuseUnreadable(head: RunHead): void {
  if (head.external !== true || head.messages > 0) return;
  throw new RunyardError("operation_not_supported", {
    detail: "another harness wrote this conversation in its own format; its raw transcript is the run's transcript",
  });
}

async function rawOf(head: RunHead, { table }: RunPorts): Promise<Raw | undefined> {
  return head.external === true ? parsed(Raw, await table.get(keys.rawTranscript(head.run_id))) : undefined;
}

const putRaw = ({ run_id }: RunHead, raw: Raw) =>
  ({ kind: "put", item: { ...keys.rawTranscript(run_id), v: 1, ...raw } }) as const;
