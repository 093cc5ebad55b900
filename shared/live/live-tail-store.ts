import * as v from "valibot";
import { keys } from "#shared/table/keys.ts";
import type { Table } from "#shared/table/table.ts";
import { writeIf } from "#shared/table/write-if.ts";
import { LiveFrame } from "#shared/wire/event.ts";
import { type LiveTails, TAIL_LIFETIME_MS } from "./live-tails.ts";
import { appendFrames, type RunTail, withoutStreams } from "./run-tail.ts";

const TailItem = v.object({
  version: v.number(),
  execution_id: v.string(),
  streams: v.array(LiveFrame),
  expires_at: v.number(),
});
type Stored = v.InferOutput<typeof TailItem>;

/** Attempts of a change while others change the same tail. */
const MAX_ATTEMPTS = 4;

/** Live tails in a table of their own: one item a run, which is overwritten. */
export function liveTailStore(table: Pick<Table, "get" | "write">, now: () => number): LiveTails {
  const find = async (runId: string): Promise<Stored | undefined> => {
    const item = await table.get(keys.liveTail(runId));
    if (item === undefined) return undefined;
    const stored = v.parse(TailItem, item);
    // DynamoDB deletes expired items late.
    return stored.expires_at * 1000 > now() ? stored : { ...stored, streams: [] };
  };

  /** Frames are lost where others write all the time: the event with the whole output follows. */
  const change = async (runId: string, next: (tail: RunTail | undefined) => RunTail | undefined): Promise<void> => {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const stored = await find(runId);
      const tail = next(stored);
      if (tail === undefined) return;
      const isWritten = await writeIf(table, {
        kind: "put",
        item: {
          ...keys.liveTail(runId),
          version: (stored?.version ?? 0) + 1,
          execution_id: tail.execution_id,
          streams: tail.streams.map((stream) => ({ ...stream })),
          expires_at: Math.ceil((now() + TAIL_LIFETIME_MS) / 1000),
        },
        if: stored === undefined ? { pk: { exists: false } } : { version: { eq: stored.version } },
      });
      if (isWritten) return;
    }
  };

  return {
    append: (runId, executionId, frames) => change(runId, (tail) => appendFrames(tail, executionId, frames)),
    finish: (runId, ids) =>
      change(runId, (tail) => {
        if (tail === undefined) return undefined;
        const rest = withoutStreams(tail, ids);
        return rest === tail ? undefined : rest;
      }),
    async read(runId) {
      const stored = await find(runId);
      return stored === undefined ? undefined : { execution_id: stored.execution_id, streams: stored.streams };
    },
    clear: (runId) => table.write({ kind: "delete", key: keys.liveTail(runId) }),
  };
}
