import type { UploadTarget } from "#shared/wire/harness.ts";

/** Files of runs in the bucket: long prompts, message batches, attachments, artifacts, transcripts. */
export interface FileStore {
  /** Writes a file; one that is there already stays as it is. */
  put(key: string, content: string | Uint8Array, contentType: string): Promise<void>;
  /** The file's bytes, or undefined where there is none. */
  get(key: string): Promise<Uint8Array | undefined>;
  /** Makes a second file of one that is there, without its bytes passing through here. */
  copy(from: string, to: string): Promise<void>;
  /** The file's size in bytes, or undefined where there is none. */
  size(key: string): Promise<number | undefined>;
  /** A time-limited URL that names the download and its type and is never rendered inline. */
  downloadUrl(
    key: string,
    file: { filename: string; contentType: string },
  ): Promise<{ url: string; expiresAt: number }>;
  /** A target for one upload of exactly these bytes; lives 10 minutes. */
  uploadTarget(key: string, file: { sizeBytes: number; sha256: string; contentType: string }): Promise<UploadTarget>;
  /** A form for an upload of up to so many bytes, which may be sent more than once; lives 10 minutes. */
  uploadForm(key: string, file: { mostBytes: number; contentType: string }): Promise<UploadTarget>;
}

/** Where each kind of file lies. What an execution uploads carries its id, so that a fenced one overwrites nothing. */
export const fileKeys = {
  /**
   * Written before the run is, so named by the logical request and the content: where that attempt dies, the next one finds
   * the file and makes the run that it is for.
   */
  prompt: (request: string, digest: string) => `requests/${request}/prompt-${digest.slice(0, 32)}.txt`,
  /** Named by its content: runs that the schedule fires read it too, also when it has another one by then. */
  schedulePrompt: (schedule: string, digest: string) => `schedules/${schedule}/prompt-${digest.slice(0, 32)}.txt`,
  /** As a prompt; `name` is of the content, or of the upload that it is a copy of. */
  attachment: (request: string, name: string) => `requests/${request}/attachments/${name.slice(0, 36)}`,
  /** Uploaded before there is a run; each run that it is given to has a copy. The bucket forgets it after two days. */
  upload: (uid: string) => `attachments/${uid}`,
  /** Named by its content, so that a repeat is the same file. */
  followup: (run: string, digest: string) => `runs/${run}/followups/${digest.slice(0, 32)}.txt`,
  messages: (run: string, execution: string, first: number, digest: string) =>
    `runs/${run}/${execution}/messages/${String(first).padStart(10, "0")}-${digest.slice(0, 16)}.json`,
  artifact: (run: string, execution: string, uid: string) => `runs/${run}/${execution}/artifacts/${uid}`,
  /** Named by its content: each version of a plan is a file of its own. */
  plan: (run: string, execution: string, digest: string) => `runs/${run}/${execution}/plans/${digest.slice(0, 32)}.md`,
  /** Skills of a repository that are too much for an item; the bucket forgets them after a while. */
  skills: (repository: string, digest: string) => `skills/${repository}/${digest}.json`,
  /** The bucket forgets snapshots after a while; a run then goes on without its workspace. */
  snapshot: (run: string, execution: string, generation: string, index: number) =>
    `snapshots/${run}/${execution}/${generation}/${index}`,
  /** As a harness of others wrote it; the `upload`th one of a run. */
  rawTranscript: (run: string, execution: string, upload: number) => `runs/${run}/${execution}/raw/${upload}.jsonl`,
  transcript: (run: string, events: number) => `runs/${run}/transcript-${events}.jsonl`,
};

/** A Content-Disposition that names the file in ASCII and in UTF-8 (RFC 6266). */
export function attachmentDisposition(filename: string): string {
  const ascii = filename.replace(/[^\x20-\x7e]|["\\]/g, "_");
  const encoded = encodeURIComponent(filename).replace(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`;
}
