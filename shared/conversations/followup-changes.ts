import { notFound, RunyardError } from "#shared/errors.ts";
import { type IdempotentRequest, runIdempotent } from "#shared/idempotency/idempotent-request.ts";
import {
  followupIdOf,
  parseFollowup,
  readFollowupsAt,
  readText,
  replaceFollowup,
  type StoredFollowup,
  storeText,
  toFollowupId,
} from "#shared/records/followup.ts";
import type { HeadAttributes, HeadConditions } from "#shared/records/head-attributes.ts";
import { listPendingNumbers, toFollowupState } from "#shared/records/pending-followups.ts";
import { countUnchanged, isExecutingHead, type RunHead } from "#shared/records/run-head.ts";
import { attemptOnHead, changeWithRecord } from "#shared/runs/change-run.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import type { AttributeChange } from "#shared/runs/transition.ts";
import type { Put } from "#shared/table/table.ts";
import type { FollowupItem } from "#shared/wire/runs/followup.ts";
import { toFollowupItem } from "./followup-queue.ts";

type Ports = Pick<RunPorts, "table" | "runs" | "files" | "now">;

/** The follow-ups that a promotion moves; they are written in one transaction, which has at most 100 writes. */
const MAX_MOVED = 90;

/** Replaces the text of a pending follow-up. */
export async function editFollowup(
  first: RunHead,
  followupId: string,
  text: string,
  ports: Ports,
): Promise<FollowupItem> {
  await findFollowup(first, followupId, ports);
  const stored = await storeText(first.run_id, text, ports.files);
  const followup = await changePending(first, followupId, undefined, ports, ({ message: _, ...found }) => {
    const { message_file: _file, message_bytes: _bytes, ...kept } = found;
    return { result: { ...kept, ...stored }, writes: [{ ...kept, ...stored }] };
  });
  return toFollowupItem(followup, text, first);
}

/** Deletes a pending follow-up once. It stays readable as `removed`. */
export async function deletePendingFollowup(
  first: RunHead,
  followupId: string,
  once: IdempotentRequest,
  ports: Ports,
): Promise<void> {
  await runIdempotent<void>(
    ports.table,
    once,
    ports.now,
    async (record) => {
      await changePending(first, followupId, record(followupId), ports, (found, head) => {
        const { followups_deleted = [] } = head;
        const numbers = [...followups_deleted, found.number].sort((a, b) => a - b);
        return { result: undefined, writes: [{ ...found, deleted: true }], set: { followups_deleted: numbers } };
      });
    },
    async () => undefined,
  );
}

/** Makes a pending follow-up the next one, which interrupts the current turn. */
export async function promotePendingFollowup(
  first: RunHead,
  followupId: string,
  once: IdempotentRequest,
  ports: Ports,
): Promise<{ item: FollowupItem; replayed: boolean }> {
  const show = async (followup: StoredFollowup, head: RunHead, replayed: boolean) => ({
    item: toFollowupItem(followup, await readText(followup, ports.files), head),
    replayed,
  });
  return runIdempotent(
    ports.table,
    once,
    ports.now,
    async (record) => {
      const promoted = await changePending(first, followupId, record(followupId), ports, async (found, head) => {
        const moved = await moveToFront(found, head, ports);
        return { result: moved.promoted, writes: [moved.promoted, ...moved.others] };
      });
      return show(promoted, first, false);
    },
    async () =>
      show(await findFollowup(first, followupId, ports), (await ports.runs.head(first.run_id)) ?? first, true),
  );
}

/** The policy of a promoted follow-up interrupts the current turn as soon as a heartbeat delivers it. */
const toPromoted = (found: StoredFollowup): StoredFollowup => ({ ...found, policy: "interrupt" });

interface MovedFollowups {
  readonly promoted: StoredFollowup;
  readonly others: readonly StoredFollowup[];
}

/** Gives a follow-up the first place of those that are pending; those before it move one place back, and keep their ids. */
async function moveToFront(found: StoredFollowup, head: RunHead, ports: Ports): Promise<MovedFollowups> {
  const before = listPendingNumbers(head).filter((number) => number < found.number);
  const [front] = before;
  if (front === undefined) return { promoted: toPromoted(found), others: [] };
  if (before.length >= MAX_MOVED) {
    throw new RunyardError("conflict", {
      detail: `${before.length} follow-ups are pending before this one, and at most ${MAX_MOVED - 1} may be: delete some of them first`,
      retryable: false,
    });
  }
  const places = [...before.slice(1), found.number];
  const followups = await readFollowupsAt(head.run_id, before, ports.table);
  const others = followups.flatMap((followup, index) => {
    const number = places[index];
    return followup === undefined || number === undefined ? [] : [moveTo(number, followup)];
  });
  return { promoted: toPromoted(moveTo(front, found)), others };
}

const moveTo = (number: number, { original, ...followup }: StoredFollowup): StoredFollowup => ({
  ...followup,
  number,
  original: original ?? followup.number,
});

interface PendingChange<T> {
  readonly result: T;
  /** The follow-ups as they are afterwards. */
  readonly writes: readonly StoredFollowup[];
  readonly set?: HeadAttributes;
}

/** Changes a follow-up that is pending. @throws RunyardError 404 if there is none with this id, 409 if it is not pending */
function changePending<T>(
  first: RunHead,
  followupId: string,
  record: Put | undefined,
  ports: Ports,
  decide: (found: StoredFollowup, head: RunHead) => PendingChange<T> | Promise<PendingChange<T>>,
): Promise<T> {
  return attemptOnHead(first, ports, async (head) => {
    const found = await findFollowup(head, followupId, ports);
    const state = toFollowupState(found.number, head);
    if (state !== "pending") {
      throw new RunyardError("conflict", {
        detail: `the follow-up is ${state}: only one that is pending can be changed; send another follow-up`,
        retryable: false,
      });
    }
    const { result, writes, set } = await decide(found, head);
    const change: AttributeChange = {
      events: [],
      touch: true,
      set: { ...set, followup_changes: head.followup_changes + 1 },
      if: toQueueUnchanged(head),
      also: { followups: writes.map((followup) => replaceFollowup(head.run_id, followup)) },
    };
    await changeWithRecord(head, change, record, ports);
    return result;
  });
}

/** No follow-up was changed or taken since the head was read. */
function toQueueUnchanged(head: RunHead): HeadConditions {
  const { followup_changes, followups_stored } = head;
  const takenCount = isExecutingHead(head) ? (head.followups_taken ?? 0) : undefined;
  return {
    followup_changes: countUnchanged(followup_changes),
    followups_stored: { absentOr: { eq: followups_stored } },
    ...(takenCount === undefined ? {} : { followups_taken: { absentOr: { eq: takenCount } } }),
  };
}

/** Reads a follow-up by its id. One that was moved is not at the place that its id has. @throws RunyardError 404 */
async function findFollowup(head: RunHead, followupId: string, ports: Ports): Promise<StoredFollowup> {
  const number = Number(/^followup-([1-9]\d{0,3})$/.exec(followupId)?.[1] ?? 0);
  if (number === 0 || number > head.followups) throw notFound("follow-up");
  const [followup] = await readFollowupsAt(head.run_id, [number], ports.table);
  if (followup !== undefined && followupIdOf(followup) === followupId) return followup;
  const all = (await ports.runs.followupItems(head.run_id, 0)).map(parseFollowup);
  const moved = all.find((one) => followupIdOf(one) === toFollowupId(number));
  if (moved === undefined) throw notFound("follow-up");
  return moved;
}
