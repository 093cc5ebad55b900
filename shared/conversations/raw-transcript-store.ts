import * as v from "valibot";
import type { RunHead } from "#shared/records/run-head.ts";
import { keys } from "#shared/table/keys.ts";
import type { Item, Put, Table } from "#shared/table/table.ts";

const TranscriptUpload = v.object({
  execution_id: v.string(),
  file: v.string(),
  /** Absent if the harness did not know them when it requested the upload. */
  size_bytes: v.exactOptional(v.number()),
  sha256: v.exactOptional(v.string()),
});
export type TranscriptUpload = v.InferOutput<typeof TranscriptUpload>;

/** The transcript that a third-party harness writes of a run's conversation, in its own format. */
const RawTranscript = v.object({
  format: v.string(),
  /** The latest upload, which is not visible yet. */
  pending: v.exactOptional(TranscriptUpload),
  stored: v.exactOptional(TranscriptUpload),
});
export type RawTranscript = v.InferOutput<typeof RawTranscript>;

const Pointer = v.object({ file: v.string() });

/** Reads the raw transcript of a run; undefined if its head says that it has none. */
export async function readRawTranscript(
  { run_id, external }: RunHead,
  table: Pick<Table, "get">,
): Promise<RawTranscript | undefined> {
  return external === true ? parseItem(RawTranscript, await table.get(keys.rawTranscript(run_id))) : undefined;
}

/** The write that stores the raw transcript of a run. */
export const putRawTranscript = (runId: string, raw: RawTranscript): Put => ({
  kind: "put",
  item: { ...keys.rawTranscript(runId), v: 1, ...raw },
});

/** Reads the file with the latest raw transcript of a conversation; undefined if it has none. */
export async function readConversationFile(
  conversationId: string,
  table: Pick<Table, "get">,
): Promise<string | undefined> {
  return parseItem(Pointer, await table.get(keys.conversationRaw(conversationId)))?.file;
}

/** The write that makes a file the latest raw transcript of a conversation. */
export const putConversationFile = (
  conversationId: string,
  transcript: { readonly run_id: string; readonly format: string; readonly file: string },
): Put => ({ kind: "put", item: { ...keys.conversationRaw(conversationId), v: 1, ...transcript } });

const parseItem = <S extends v.GenericSchema>(schema: S, item: Item | undefined): v.InferOutput<S> | undefined =>
  item === undefined ? undefined : v.parse(schema, item);
