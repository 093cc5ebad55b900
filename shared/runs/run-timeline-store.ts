import { parseArtifact, toArtifactItem } from "#shared/records/artifact.ts";
import { keys, runPk } from "#shared/table/keys.ts";
import type { Item, Page, Table } from "#shared/table/table.ts";
import type { ArtifactItem } from "#shared/wire/artifact.ts";

/** What a run's executions and users have added to it, in order. */
export function runTimelineStore(table: Pick<Table, "query">) {
  return {
    /** Reads the timeline events after `after`, oldest first. */
    timelineItems(runId: string, after = 0, limit?: number): Promise<Page> {
      const from = keys.event(runId, after);
      return table.query({ pk: from.pk, prefix: "EVENT#", after: from.sk, ...(limit === undefined ? {} : { limit }) });
    },

    /** Reads the message batches after `after`, oldest first. */
    messageItems(runId: string, after = 0, limit?: number): Promise<Page> {
      const from = keys.messages(runId, after);
      return table.query({
        pk: from.pk,
        prefix: "MESSAGES#",
        after: from.sk,
        ...(limit === undefined ? {} : { limit }),
      });
    },

    /** Reads the last message batch; undefined if the run has no messages. */
    async lastMessageItem(runId: string): Promise<Item | undefined> {
      const { items } = await table.query({ pk: runPk(runId), prefix: "MESSAGES#", descending: true, limit: 1 });
      return items[0];
    },

    /** Reads the follow-ups with numbers above `after`, in order. */
    async followupItems(runId: string, after: number, limit?: number): Promise<readonly Item[]> {
      const from = keys.followup(runId, after);
      const most = limit === undefined ? {} : { limit };
      return (await table.query({ pk: from.pk, prefix: "FOLLOWUP#", after: from.sk, ...most })).items;
    },

    /** Reads the committed artifacts, oldest first. */
    async artifacts(runId: string): Promise<ArtifactItem[]> {
      const { items } = await table.query({ pk: runPk(runId), prefix: "ARTIFACT#" });
      return items
        .map(parseArtifact)
        .filter((artifact) => artifact.committed_at !== undefined)
        .sort((a, b) => (a.committed_at ?? 0) - (b.committed_at ?? 0))
        .map(toArtifactItem);
    },
  };
}
