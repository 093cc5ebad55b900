import * as v from "valibot";
import { splitIntoBatches } from "#shared/arrays.ts";
import { forgetLastRun } from "#shared/environments/environment-store.ts";
import { isOfOneRun } from "#shared/files/file-store.ts";
import { putTurns } from "#shared/records/kept-turns.ts";
import type { RunBody } from "#shared/records/run-body.ts";
import { countUnchanged, type EndedHead, parseOwner, parseRunId } from "#shared/records/run-head.ts";
import { DELETION_SHARD, keys, runPk } from "#shared/table/keys.ts";
import { readPages } from "#shared/table/read-pages.ts";
import type { Item, Key, Table } from "#shared/table/table.ts";
import { type NamedWrites, transact } from "#shared/table/transact.ts";
import { writeIf } from "#shared/table/write-if.ts";
import { type LeftConversation, leaveConversation } from "./leave-conversation.ts";

/** Items that are deleted at the same time. Each is a write of its own, since a transaction would cost twice as much. */
const DELETED_AT_ONCE = 25;

/** What remains to be deleted of a run besides the items and files that are named after it. */
const Deletion = v.object({
  /** The time in milliseconds before which nothing is deleted, since uploads that were allowed may still arrive. */
  not_before: v.exactOptional(v.number()),
  /** True if its turns remain, because a later run continues its conversation. */
  keeps_turns: v.exactOptional(v.literal(true)),
  /** Runs that were deleted before, and whose turns no later run continues any more. */
  dropped: v.exactOptional(v.array(v.string())),
  files: v.array(v.string()),
  ancestors: v.array(v.string()),
  conversation_id: v.string(),
  environment_id: v.exactOptional(v.string()),
  /** Absent in notes of earlier releases, whose runs have no references. */
  owner: v.exactOptional(v.object({ type: v.picklist(["Team", "User"]), uid: v.string() })),
  trigger_url: v.exactOptional(v.string()),
});
type Deletion = v.InferOutput<typeof Deletion>;

interface DeletionOptions {
  /** The time in milliseconds before which the second step does nothing. @default the second step follows at once */
  readonly notBefore?: number;
  /** Whether the run's turns remain part of its conversation if a later run continues that. @default false */
  readonly mayKeepTurns?: boolean;
  /** Further writes of the same transaction. */
  readonly also?: NamedWrites;
}

/** The deletion of runs from the table, in two steps. */
export function deletionStore(table: Table) {
  const { leaveForGood, deletePartition, deleteAll } = itemRemoval(table);
  return {
    /** Runs whose deletion has begun, and was not completed. */
    async *unfinished(): AsyncGenerator<string> {
      const query = { index: "gsi6", pk: DELETION_SHARD } as const;
      for await (const items of readPages(query, "check_at", table)) yield* items.map(parseRunId);
    },

    /**
     * Deletes head and body of a run, so that it no longer exists for callers, and notes what remains.
     * @throws ConflictError if the run, the runs below it, or its conversation have changed since the head was read
     */
    async begin(
      head: EndedHead,
      body: RunBody,
      { notBefore, mayKeepTurns = false, also = {} }: DeletionOptions = {},
    ): Promise<void> {
      const { run_id: id, state, next_sequence, children, descendants } = head;
      const conversation = await leaveConversation(id, body.conversation_id, mayKeepTurns, table);
      const note = {
        ...toNote(head, body, conversation),
        ...(notBefore === undefined ? {} : { not_before: notBefore }),
      };
      const unchanged = {
        state: { eq: state },
        next_sequence: countUnchanged(next_sequence),
        children: countUnchanged(children),
        descendants: countUnchanged(descendants),
      };
      await transact(table, {
        note: { kind: "put", item: { ...keys.deletion(id), v: 1, ...note, check_shard: DELETION_SHARD, check_at: id } },
        turns: conversation.keepsTurns ? putTurns({ head, body: withoutReceiver(body) }) : undefined,
        body: { kind: "delete", key: keys.body(id) },
        head: { kind: "delete", key: keys.head(id), if: unchanged },
        ...conversation.writes,
        ...also,
      });
    },

    /** Deletes what names the run at other runs and at its environment. */
    async forget(runId: string, deletion: Deletion): Promise<void> {
      const { ancestors, environment_id, trigger_url } = deletion;
      await deleteAll([
        ...listReferences(runId, deletion, trigger_url),
        ...ancestors.map((id) => keys.descendant(id, runId)),
      ]);
      if (environment_id !== undefined) await writeIf(table, forgetLastRun(environment_id, runId));
    },

    /** What remains of a run whose deletion has begun; undefined if nothing does. */
    async find(runId: string): Promise<Deletion | undefined> {
      const item = await table.get(keys.deletion(runId));
      return item === undefined ? undefined : v.parse(Deletion, item);
    },

    /** Deletes all items of a run, except its turns if they remain, and those of others that name it; at last the note of its deletion. */
    async complete(runId: string, deletion: Deletion): Promise<void> {
      await this.forget(runId, deletion);
      if (deletion.keeps_turns !== true) await leaveForGood(runId, deletion.conversation_id);
      const note = keys.deletion(runId);
      const isKept = ({ sk }: Key) => sk === note.sk || (deletion.keeps_turns === true && isOfTurns(sk));
      await deletePartition(runId, isKept, (item) =>
        listArtifactKeys(item).flatMap((key) => [key, ...listReferences(runId, deletion, item["url"])]),
      );
      await deleteAll([note]);
    },

    /** Deletes the turns of a deleted run, and what names them. */
    async dropTurns(runId: string, conversationId: string): Promise<void> {
      await leaveForGood(runId, conversationId);
      // Where its own deletion is not completed, that deletes the rest.
      await deletePartition(
        runId,
        ({ sk }) => !isOfTurns(sk),
        () => [],
      );
    },
  };
}

/** Deletes items one by one. What is deleted already is no error. */
function itemRemoval(table: Table) {
  return { leaveForGood, deletePartition, deleteAll };

  /** A deleted run is no longer part of its conversation. Where an item names a single run, another one may have taken its place. */
  async function leaveForGood(runId: string, conversationId: string): Promise<void> {
    await deleteAll([keys.conversationRun(conversationId, runId)]);
    for (const key of [keys.conversationTail(conversationId), keys.conversationRaw(conversationId)])
      await writeIf(table, { kind: "delete", key, if: { run_id: { eq: runId } } });
  }

  /** Deletes the items of a run that are not kept, each after the items of others that belong to it. */
  async function deletePartition(
    runId: string,
    isKept: (key: Key) => boolean,
    listOthers: (item: Item) => readonly Key[],
  ): Promise<void> {
    for await (const items of readPages({ pk: runPk(runId) }, "sk", table)) {
      await deleteAll(items.filter((item) => !isKept(item)).flatMap((item) => [...listOthers(item), item]));
    }
  }

  async function deleteAll(deleted: readonly Key[]): Promise<void> {
    for (const batch of splitIntoBatches(deleted, DELETED_AT_ONCE)) {
      await Promise.all(batch.map(({ pk, sk }) => table.write({ kind: "delete", key: { pk, sk } })));
    }
  }
}

/** What remains to be deleted of a run that leaves its conversation. */
function toNote(head: EndedHead, body: RunBody, { keepsTurns, dropped }: LeftConversation): Deletion {
  const deletion = toDeletion(head, body);
  return {
    ...deletion,
    files: [...(keepsTurns ? [] : listPromptFiles(body)), ...deletion.files],
    ...(keepsTurns ? { keeps_turns: true } : {}),
    ...(dropped.length === 0 ? {} : { dropped: [...dropped] }),
  };
}

/** The body as the turns keep it: they notify nobody. */
const withoutReceiver = ({ notify_url: _, ...body }: RunBody): RunBody => body;

/** True for the items that hold the turns of a run. */
const isOfTurns = (sk: string): boolean =>
  [keys.turns(""), keys.checkpoint(""), keys.rawTranscript("")].some((key) => key.sk === sk) ||
  sk.startsWith(MESSAGES_PREFIX);
const MESSAGES_PREFIX = keys.messages("", 0).sk.replace(/\d+$/, "");

/** What remains to be deleted of a run, except for its prompt. */
export const toDeletion = (
  head: EndedHead,
  { ancestors, attachments, config, conversation_id, trigger }: RunBody,
): Deletion => ({
  files: attachments.map(({ file }) => file).filter(isOfOneRun),
  ancestors,
  conversation_id,
  owner: parseOwner(head),
  ...(trigger?.url === undefined ? {} : { trigger_url: trigger.url }),
  ...(config.environment_id === undefined ? {} : { environment_id: config.environment_id }),
});

/** The file of a run's prompt, if it is the run's own. */
export const listPromptFiles = ({ prompt_file }: RunBody): readonly string[] =>
  [prompt_file].filter((file) => file !== undefined).filter(isOfOneRun);

/** The key by which a run is found by a URL, if it has one. */
const listReferences = (runId: string, { owner }: Deletion, url: unknown): Key[] =>
  owner === undefined || typeof url !== "string" ? [] : [keys.reference(owner, url, runId)];

/** The key by which an artifact is found, if the item is one. */
function listArtifactKeys({ sk }: Key): Key[] {
  const { sk: prefix } = keys.artifact("", "");
  return sk.startsWith(prefix) ? [keys.artifactRun(sk.slice(prefix.length))] : [];
}
