import * as v from "valibot";
import { type Api, callApi } from "../../server/host/api.ts";
import { Conversation } from "../../shared/wire/conversation.ts";
import { type RunEvent, RunEvents, Timeline } from "../../shared/wire/event.ts";
import type { AcceptedRun } from "./clients.ts";
import type { Hit } from "./targets.ts";

/** An item as stored in the table; the checker parses it with its own schemas. */
export const StoredItem = v.looseObject({ pk: v.string(), sk: v.string() });
export type StoredItem = v.InferOutput<typeof StoredItem>;

/** What the API returns for one run. */
export interface RunResponses {
  readonly events: readonly Pick<RunEvent, "sequence" | "type">[];
  readonly timeline: readonly string[];
  /** As text, to look for a line in it. */
  readonly conversation: string;
  readonly transcript: string;
  /** Its artifacts that are files: their text, or why it cannot be read. */
  readonly files: readonly { readonly name: string; readonly text?: string; readonly problem?: string }[];
}

/** Everything known once all runs are at rest. */
export interface Evidence {
  readonly accepted: readonly AcceptedRun[];
  readonly items: readonly StoredItem[];
  /** Runs that existed before; the checker ignores them. */
  readonly before: ReadonlySet<string>;
  /** Keys of the bucket. */
  readonly objects: readonly string[];
  /** By run id; an error message if reading failed. */
  readonly responses: ReadonlyMap<string, RunResponses | string>;
  readonly hits: readonly Hit[];
  /** Milliseconds since the epoch. */
  readonly lastKillAt: number;
  /** Leftover processes of executions. */
  readonly processes: readonly string[];
}

const READERS = 8;

/** Reads what a service has stored, past the service. */
export interface EvidenceStore {
  items(): Promise<StoredItem[]>;
  /** Keys of the stored files. */
  objects(): Promise<string[]>;
  /** Waits until no run is due for the reaper. False if one still is at the deadline. */
  rest(deadline: number): Promise<boolean>;
  close(): void;
}

/** Reads every run the way that users do: events, timeline, conversation and transcript. */
export async function readThrough(api: Api, runIds: readonly string[]): Promise<Map<string, RunResponses | string>> {
  const responses = new Map<string, RunResponses | string>();
  const pending = [...runIds];
  const read = async (): Promise<void> => {
    for (let runId = pending.shift(); runId !== undefined; runId = pending.shift()) {
      responses.set(runId, await readRun(api, runId).catch((error: unknown) => String(error)));
    }
  };
  await Promise.all(Array.from({ length: READERS }, read));
  return responses;
}

const Link = v.object({ download_url: v.string() });

async function readRun(api: Api, runId: string): Promise<RunResponses> {
  const path = `/agent/runs/${runId}`;
  const events: RunResponses["events"][number][] = [];
  for (let after = 0, ended = false; !ended; ) {
    const page = await callApi(api, "GET", `${path}/events?after=${after}`, RunEvents);
    events.push(...page.events.map(({ sequence, type }) => ({ sequence, type })));
    after = page.next;
    ended = page.ended || page.events.length === 0;
  }
  const timeline = await pages(
    (query) => callApi(api, "GET", `${path}/timeline${query}`, Timeline),
    (page) => page.events.map(({ event_type }) => event_type),
  );
  const conversation = await pages(
    (query) => callApi(api, "GET", `${path}/conversation${query}`, Conversation),
    (page) => page.steps.map((step) => JSON.stringify(step)),
  );
  const link = await callApi(api, "GET", `${path}/transcript?redirect=false`, Link);
  const response = await fetch(link.download_url, { signal: AbortSignal.timeout(30_000) });
  if (!response.ok) throw new Error(`the transcript's address returned ${response.status}`);
  const transcript = await response.text();
  return { events, timeline, conversation: conversation.join("\n"), transcript, files: await readFiles(api, runId) };
}

const Artifacts = v.object({
  artifacts: v.optional(v.array(v.looseObject({ artifact_type: v.string(), data: v.looseObject({}) })), []),
});
const FileArtifact = v.object({ artifact_uid: v.string(), filepath: v.string() });

async function readFiles(api: Api, runId: string): Promise<RunResponses["files"]> {
  const { artifacts } = await callApi(api, "GET", `/agent/runs/${runId}`, Artifacts);
  const files = artifacts.filter(({ artifact_type }) => artifact_type === "FILE");
  return await Promise.all(
    files.map(async ({ data }) => {
      const { artifact_uid: uid, filepath: name } = v.parse(FileArtifact, data);
      try {
        const { data: link } = await callApi(api, "GET", `/agent/artifacts/${uid}`, v.object({ data: Link }));
        const response = await fetch(link.download_url, { signal: AbortSignal.timeout(30_000) });
        return response.ok ? { name, text: await response.text() } : { name, problem: `status ${response.status}` };
      } catch (error) {
        return { name, problem: String(error) };
      }
    }),
  );
}

interface Page {
  readonly page_info?: { readonly next_cursor?: string };
}

async function pages<P extends Page, T>(read: (query: string) => Promise<P>, of: (page: P) => T[]): Promise<T[]> {
  const all: T[] = [];
  for (let query: string | undefined = ""; query !== undefined; ) {
    const page: P = await read(query);
    all.push(...of(page));
    const cursor: string | undefined = page.page_info?.next_cursor;
    query = cursor === undefined ? undefined : `?cursor=${encodeURIComponent(cursor)}`;
  }
  return all;
}
