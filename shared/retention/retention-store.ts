import { type EndedHead, isEndedHead, parseRunId, type RunHead } from "#shared/records/run-head.ts";
import { endedPart, keys, type Owner, RETENTION_SHARD, scopeKey, sortableTime } from "#shared/table/keys.ts";
import { readPages } from "#shared/table/read-pages.ts";
import type { Table } from "#shared/table/table.ts";

/** Teams whose runs are deleted by age, and their old runs. */
export function retentionStore(table: Pick<Table, "query">) {
  return {
    /** The uids of all teams that have a retention. */
    async *teams(): AsyncGenerator<string> {
      for await (const items of readPages({ index: "gsi6", pk: RETENTION_SHARD }, "check_at", table)) {
        for (const { pk } of items) yield pk.slice(keys.team("").pk.length);
      }
    },

    /** Runs of an owner that have ended, and have not changed since `before`, in milliseconds. The oldest change comes first. */
    async *endedBefore(owner: Owner, before: number): AsyncGenerator<string> {
      const query = { index: "gsi1", pk: endedPart(scopeKey(owner)), before: sortableTime(before) } as const;
      for await (const items of readPages(query, "updated_key", table)) yield* items.map(parseRunId);
    },

    /** The descendants of a run, oldest first. */
    async descendants(runId: string): Promise<string[]> {
      const { pk, sk: prefix } = keys.descendant(runId, "");
      const { items } = await table.query({ pk, prefix });
      return items.map(({ sk }) => sk.slice(prefix.length));
    },
  };
}

/** True if the run ended before a time in milliseconds, and nothing has changed it since. */
export const isEndedBefore = (head: RunHead, time: number): head is EndedHead =>
  isEndedHead(head) && head.updated_at < time;
