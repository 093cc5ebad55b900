import type { UploadTarget } from "#shared/wire/harness.ts";

/** Files of runs in the bucket: long prompts, message batches, attachments, artifacts, transcripts. */
export interface FileStore {
  /** Writes a file unless there is one with this key. */
  put(key: string, content: string | Uint8Array, contentType: string): Promise<void>;
  /** Reads the bytes of a file; undefined if there is none. */
  get(key: string): Promise<Uint8Array | undefined>;
  /** Copies a file within the store. */
  copy(from: string, to: string): Promise<void>;
  /** Reads the size of a file in bytes; undefined if there is none. */
  size(key: string): Promise<number | undefined>;
  /** Creates a time-limited URL with a filename and a type, which browsers never render inline. */
  downloadUrl(
    key: string,
    file: { filename: string; contentType: string },
  ): Promise<{ url: string; expiresAt: number }>;
  /** Creates a target for one upload of exactly these bytes, valid for 10 minutes. */
  uploadTarget(key: string, file: { sizeBytes: number; sha256: string; contentType: string }): Promise<UploadTarget>;
  /**
   * Creates a URL for uploads with this type, valid for 10 minutes. A request needs no other header. Without `sizeBytes`, storage does
   * not limit the size. It may be used more than once.
   */
  uploadUrl(
    key: string,
    file: { sizeBytes: number | undefined; contentType: string },
  ): Promise<{ url: string; expiresAt: number }>;
  /** Creates a form for uploads of at most `mostBytes` bytes, valid for 10 minutes. It may be used more than once. */
  uploadForm(key: string, file: { mostBytes: number; contentType: string }): Promise<UploadTarget>;
}

/** Deletes files. A port of its own, since hardly any function may. */
export interface FileRemoval {
  /** Deletes a file; does nothing if there is none. */
  remove(key: string): Promise<void>;
  /** Deletes all files whose keys begin with `prefix`, which ends with a slash, except those in folders with one of the names `kept`. */
  removeAll(prefix: string, kept?: readonly string[]): Promise<void>;
}

/**
 * Puts the last four digits of an id, which are random, before the id, which begins with its time. S3 takes 3,500 writes a second below a
 * prefix and splits prefixes by load, so that keys of files that are written at the same time need different beginnings.
 */
const spread = (id: string): string => `${id.slice(-4)}/${id}`;

/** The keys of files. Those of an execution contain its id, so that an expired execution overwrites nothing. */
export const fileKeys = {
  /**
   * Written before the run, so named by the request and the content: if the attempt fails, the next one finds the file and creates
   * the run for it.
   */
  prompt: (request: string, digest: string) => `requests/${request}/prompt-${digest.slice(0, 32)}.txt`,
  /** Named by its content, since runs of the schedule still read it after the schedule has another prompt. */
  schedulePrompt: (schedule: string, digest: string) => `schedules/${schedule}/prompt-${digest.slice(0, 32)}.txt`,
  /** Written like a prompt. `name` is that of the content, or of the upload that it copies. */
  attachment: (request: string, name: string) => `requests/${request}/attachments/${name.slice(0, 36)}`,
  /** Uploaded before a run exists; each run with it has a copy. A lifecycle rule of the bucket deletes it after two days. */
  upload: (uid: string) => `attachments/${spread(uid)}`,
  /** Named by its content, so that a repeat is the same file. */
  followup: (run: string, digest: string) => `runs/${spread(run)}/followups/${digest.slice(0, 32)}.txt`,
  /** A copy of an upload that came with a follow-up. */
  followupAttachment: (run: string, uid: string) => `runs/${spread(run)}/attachments/${uid}`,
  messages: (run: string, execution: string, first: number, digest: string) =>
    `runs/${spread(run)}/${execution}/messages/${String(first).padStart(10, "0")}-${digest.slice(0, 16)}.json`,
  artifact: (run: string, execution: string, uid: string) => `runs/${spread(run)}/${execution}/artifacts/${uid}`,
  /** Objects of a push that the run requests. */
  pack: (run: string, execution: string, digest: string) =>
    `runs/${spread(run)}/${execution}/packs/${digest.slice(0, 32)}`,
  /** Named by its content, since each version of a plan is a file. */
  plan: (run: string, execution: string, digest: string) =>
    `runs/${spread(run)}/${execution}/plans/${digest.slice(0, 32)}.md`,
  /** Skills of a repository that are too large for an item. A lifecycle rule of the bucket deletes them. */
  skills: (repository: string, digest: string) => `skills/${repository}/${digest}.json`,
  /** A lifecycle rule of the bucket deletes snapshots; a run then continues without its workspace. */
  snapshot: (run: string, execution: string, generation: string, index: number) =>
    `snapshots/${spread(run)}/${execution}/${generation}/${index}`,
  /** The event of a delivery to a trigger. A lifecycle rule of the bucket deletes it with the delivery, after 30 days. */
  triggerEvent: (trigger: string, delivery: string) => `events/${trigger}/${delivery}.json`,
  /** The `upload`th raw transcript of a run, as a third-party harness wrote it. */
  rawTranscript: (run: string, execution: string, upload: number) =>
    `runs/${spread(run)}/${execution}/raw/${upload}.jsonl`,
  transcript: (run: string, events: number) => `runs/${spread(run)}/transcript-${events}.jsonl`,
};

/** The key of a transcript that an earlier release has composed. Other files of earlier releases are found by the records that name them. */
export const formerTranscriptKey = (run: string, events: number): string => `runs/${run}/transcript-${events}.jsonl`;

/** True for a file that belongs to one run, although it was stored before it. The prompt of a schedule belongs to all its runs. */
export const isOfOneRun = (key: string): boolean => key.startsWith("requests/");

/** What the keys of all files of a run begin with, also of those from earlier releases, except those that were stored before the run. */
export const runFilePrefixes = (run: string): readonly string[] =>
  [spread(run), run].flatMap((id) => [`runs/${id}/`, `snapshots/${id}/`]);

/** The folders with the turns of a run, below its prefixes. */
export const TURN_FOLDERS: readonly string[] = ["messages", "raw"];

/** True for a file in a folder with one of these names. */
export const isInFolder = (key: string, names: readonly string[]): boolean =>
  key
    .split("/")
    .slice(0, -1)
    .some((name) => names.includes(name));

/** Formats a Content-Disposition with the filename in ASCII and in UTF-8 (RFC 6266). */
export function attachmentDisposition(filename: string): string {
  const ascii = filename.replace(/[^\x20-\x7e]|["\\]/g, "_");
  const encoded = encodeURIComponent(filename).replace(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`;
}
