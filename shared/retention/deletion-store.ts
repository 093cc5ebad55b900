import * as v from "valibot";
import { splitIntoBatches } from "#shared/arrays.ts";
import { forgetLastRun } from "#shared/environments/environment-store.ts";
import { isOfOneRun } from "#shared/files/file-store.ts";
import type { RunBody } from "#shared/records/run-body.ts";
import { countUnchanged, type EndedHead, parseOwner, parseRunId } from "#shared/records/run-head.ts";
import { DELETION_SHARD, keys, runPk } from "#shared/table/keys.ts";
import { readPages } from "#shared/table/read-pages.ts";
import { ConditionFailed, type Key, type Table, type Write } from "#shared/table/table.ts";
import { transact } from "#shared/table/transact.ts";

/** Items that are deleted at the same time. Each is a write of its own, since a transaction would cost twice as much. */
const DELETED_AT_ONCE = 25;

/** What remains to be deleted of a run besides the items and files that are named after it. */
const Deletion = v.object({
  files: v.array(v.string()),
  ancestors: v.array(v.string()),
  conversation_id: v.string(),
  environment_id: v.exactOptional(v.string()),
  /** Absent in notes of earlier releases, whose runs have no references. */
  owner: v.exactOptional(v.object({ type: v.picklist(["Team", "User"]), uid: v.string() })),
  trigger_url: v.exactOptional(v.string()),
});
type Deletion = v.InferOutput<typeof Deletion>;

/** The deletion of runs from the table, in two steps. */
export function deletionStore(table: Table) {
  return {
    /** Runs whose deletion has begun, and was not completed. */
    async *unfinished(): AsyncGenerator<string> {
      const query = { index: "gsi6", pk: DELETION_SHARD } as const;
      for await (const items of readPages(query, "check_at", table)) yield* items.map(parseRunId);
    },

    /**
     * Deletes head and body of a run, so that it no longer exists for callers, and notes what remains.
     * @throws ConflictError if the run has changed since its head was read
     */
    async begin(head: EndedHead, body: RunBody): Promise<void> {
      const { run_id: id, state, next_sequence } = head;
      const unchanged = { state: { eq: state }, next_sequence: countUnchanged(next_sequence) };
      const note = { ...keys.deletion(id), v: 1, ...toDeletion(head, body), check_shard: DELETION_SHARD, check_at: id };
      await transact(table, {
        note: { kind: "put", item: note },
        body: { kind: "delete", key: keys.body(id) },
        head: { kind: "delete", key: keys.head(id), if: unchanged },
      });
    },

    /** What remains of a run whose deletion has begun; undefined if nothing does. */
    async find(runId: string): Promise<Deletion | undefined> {
      const item = await table.get(keys.deletion(runId));
      return item === undefined ? undefined : v.parse(Deletion, item);
    },

    /** Deletes all items of a run, and those of others that name it; at last the note of its deletion. */
    async complete(runId: string, deletion: Deletion): Promise<void> {
      const { ancestors, conversation_id, environment_id, owner, trigger_url } = deletion;
      const toReferences = (url: unknown): Key[] =>
        owner === undefined || typeof url !== "string" ? [] : [keys.reference(owner, url, runId)];
      await deleteAll([
        ...toReferences(trigger_url),
        ...ancestors.map((id) => keys.descendant(id, runId)),
        keys.conversationRun(conversation_id, runId),
      ]);
      for (const key of [keys.conversationTail(conversation_id), keys.conversationRaw(conversation_id)])
        await writeIfHolds({ kind: "delete", key, if: { run_id: { eq: runId } } });
      if (environment_id !== undefined) await writeIfHolds(forgetLastRun(environment_id, runId));
      const note = keys.deletion(runId);
      for await (const items of readPages({ pk: runPk(runId) }, "sk", table)) {
        const others = items.filter(({ sk }) => sk !== note.sk);
        await deleteAll(
          others.flatMap((item) => [
            ...listArtifactKeys(item).flatMap((key) => [key, ...toReferences(item["url"])]),
            item,
          ]),
        );
      }
      await deleteAll([note]);
    },
  };

  async function deleteAll(deleted: readonly Key[]): Promise<void> {
    for (const batch of splitIntoBatches(deleted, DELETED_AT_ONCE)) {
      await Promise.all(batch.map(({ pk, sk }) => table.write({ kind: "delete", key: { pk, sk } })));
    }
  }

  /** Changes an item that names a single run; another run may have taken its place. */
  async function writeIfHolds(write: Write): Promise<void> {
    try {
      await table.write(write);
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error;
    }
  }
}

const toDeletion = (
  head: EndedHead,
  { ancestors, attachments, config, conversation_id, prompt_file, trigger }: RunBody,
): Deletion => ({
  files: [...(prompt_file === undefined ? [] : [prompt_file]), ...attachments.map(({ file }) => file)].filter(
    isOfOneRun,
  ),
  ancestors,
  conversation_id,
  owner: parseOwner(head),
  ...(trigger?.url === undefined ? {} : { trigger_url: trigger.url }),
  ...(config.environment_id === undefined ? {} : { environment_id: config.environment_id }),
});

/** The key by which an artifact is found, if the item is one. */
function listArtifactKeys({ sk }: Key): Key[] {
  const { sk: prefix } = keys.artifact("", "");
  return sk.startsWith(prefix) ? [keys.artifactRun(sk.slice(prefix.length))] : [];
}
