import { takeCharacters } from "#shared/characters.ts";
import { type FileStore, fileKeys } from "#shared/files/file-store.ts";
import { sha256 } from "#shared/ids.ts";
import { INLINE_BYTES } from "#shared/records/run-body.ts";

const SHOWN_LENGTH = 1_000;

export interface StoredPrompt {
  readonly prompt: string;
  readonly prompt_file?: string;
}

/** A prompt as the schedule's item holds it: a long one goes into the bucket, and its beginning stays. */
export async function storePrompt(scheduleId: string, prompt: string, files: FileStore): Promise<StoredPrompt> {
  if (Buffer.byteLength(prompt) <= INLINE_BYTES) return { prompt };
  const file = fileKeys.schedulePrompt(scheduleId, sha256(prompt));
  await files.put(file, prompt, "text/plain; charset=utf-8");
  return { prompt: takeCharacters(prompt, SHOWN_LENGTH), prompt_file: file };
}
