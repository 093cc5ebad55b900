import * as v from "valibot";
import { invalid, RunyardError } from "#shared/errors.ts";
import { type FileStore, fileKeys } from "#shared/files/file-store.ts";
import {
  IdempotencyRecordExists,
  type IdempotentRequest,
  runIdempotent,
} from "#shared/idempotency/idempotent-request.ts";
import { sha256 } from "#shared/ids.ts";
import { type RateLimitToken, throwIfRateLimited } from "#shared/limits/token-bucket.ts";
import { isTerminal, RUN_CAPS } from "#shared/records/run.ts";
import { INLINE_BYTES } from "#shared/records/run-body.ts";
import { isLocal, ownerOf, type RunHead } from "#shared/records/run-head.ts";
import type { RunPorts } from "#shared/runs/ports.ts";
import { RunChangedError } from "#shared/runs/run-store.ts";
import { type Change, ENDING_ATTRIBUTES, EXECUTION_ATTRIBUTES } from "#shared/runs/transition.ts";
import { keys } from "#shared/table/keys.ts";
import type { Item, Put } from "#shared/table/table.ts";
import type { Followup } from "#shared/wire/harness.ts";
import { toTimestamp } from "#shared/wire/primitives.ts";
import { FollowupPolicy, type RunFollowupRequest, type RunMode } from "#shared/wire/run.ts";
import { type SettledCancel, settleCancelled } from "./cancelled-turn.ts";

const FollowupItem = v.object({
  number: v.number(),
  message: v.exactOptional(v.string()),
  message_file: v.exactOptional(v.string()),
  policy: FollowupPolicy,
  created_at: v.number(),
});

/** Reads follow-ups above `stored`, in order. */
export async function followupsAfter(
  { run_id, followups_cancelled }: RunHead,
  stored: number,
  ports: Pick<RunPorts, "runs" | "files">,
): Promise<Followup[]> {
  const items = await ports.runs.followupItems(run_id, stored);
  const followups = await Promise.all(items.map((item) => toFollowup(item, ports.files)));
  return followups.map((it) => (it.number > followups_cancelled ? it : { ...it, cancelled: true }));
}

async function toFollowup(item: Item, files: FileStore): Promise<Followup> {
  const { number, message, message_file, policy, created_at } = v.parse(FollowupItem, item);
  const text = message ?? (message_file === undefined ? undefined : await files.get(message_file));
  if (text === undefined) throw new Error(`the text of follow-up ${number} is missing`);
  return { number, message: text.toString(), policy, created_at: toTimestamp(created_at) };
}

/** Takes a follow-up of a run in any state; one that has ended goes back to the queue with it. */
export async function submitFollowup(
  first: RunHead,
  { message, mode, policy = "enqueue" }: RunFollowupRequest,
  { once, rateLimitToken }: { readonly once: IdempotentRequest; readonly rateLimitToken: RateLimitToken },
  ports: RunPorts,
): Promise<{ replayed: boolean }> {
  const text = message ?? "Go on from where you stopped.";
  const isLong = Buffer.byteLength(text) > INLINE_BYTES;
  const file = fileKeys.followup(first.run_id, sha256(text));
  if (isLong) await ports.files.put(file, text, "text/plain; charset=utf-8");
  const content = { ...(isLong ? { message_file: file } : { message: text }), policy };
  // Without a message the caller asks to go on from where the run stopped: with what was cancelled, where it was cancelled.
  const supersedes = message !== undefined;
  return runIdempotent<{ replayed: boolean }>(
    ports.table,
    once,
    ports.now,
    async (record) => {
      if (message === undefined && !isTerminal(first.state))
        throw invalid("message", "is required unless the run has ended");
      await store(first, content, { record: record(first.run_id), rateLimitToken, supersedes, mode }, ports);
      return { replayed: false };
    },
    async () => ({ replayed: true }),
  );
}

interface Content {
  readonly message?: string;
  readonly message_file?: string;
  readonly policy: FollowupPolicy;
}

/** What is written along with a follow-up. */
interface Along {
  readonly record: Put;
  readonly rateLimitToken: RateLimitToken;
  /** Whether the follow-up takes the place of what was cancelled before it. */
  readonly supersedes: boolean;
  /** The mode of the execution that the follow-up starts, where it starts one. @default the run's own */
  readonly mode: RunMode | undefined;
}

async function store(first: RunHead, content: Content, along: Along, ports: RunPorts): Promise<void> {
  let head: RunHead | undefined = first;
  for (let attempt = 0; head !== undefined && attempt < 8; attempt++) {
    if (isLocal(head) && isTerminal(head.state)) {
      throw new RunyardError("operation_not_supported", {
        detail:
          "the run was executed by its caller and has ended: continue its conversation by a new run with conversation_id",
      });
    }
    if (content.policy === "reject" && !isTerminal(head.state)) {
      throw new RunyardError("conflict", {
        detail: `policy: the run has not ended, it is ${head.state}; send the follow-up later, or with the policy enqueue`,
        retryable: false,
      });
    }
    if (head.followups >= RUN_CAPS.followups) {
      throw new RunyardError("resource_unavailable", {
        status: 429,
        detail: `a run takes ${RUN_CAPS.followups} follow-ups`,
      });
    }
    const now = ports.now();
    const settled = along.supersedes && head.state === "CANCELLED" ? await settleCancelled(head, ports) : undefined;
    try {
      await ports.runs.change(head, followupChange(head, content, along, now, settled), now);
      if (isTerminal(head.state)) await ports.queue.sendRun(head.run_id, ownerOf(head)).catch(() => undefined);
      return;
    } catch (error) {
      if (!(error instanceof RunChangedError)) throw error;
      if (!error.headChanged) {
        if (!isTaken(error, along.record)) throwIfRateLimited(error.cause, error.writes, now);
        throw new IdempotencyRecordExists();
      }
    }
    head = await ports.runs.head(first.run_id);
  }
  throw new RunyardError("conflict", { detail: "the run changes too fast; send the follow-up again", retryable: true });
}

const isTaken = ({ cause, writes }: RunChangedError, record: Put): boolean =>
  cause.positions.includes(writes.indexOf(record));

function followupChange(
  head: RunHead,
  content: Content,
  { record, rateLimitToken, mode }: Along,
  now: number,
  settled: SettledCancel | undefined,
): Change {
  const number = head.followups + 1;
  const revives = isTerminal(head.state);
  const item: Put = {
    kind: "put",
    item: { ...keys.followup(head.run_id, number), v: 1, number, ...content, created_at: now },
    if: { pk: { exists: false } },
  };
  return {
    ...(revives ? { to: "QUEUED" as const } : {}),
    touch: true,
    events: [
      { type: "followup_received", data: { number, policy: content.policy, ...(revives ? { state: "QUEUED" } : {}) } },
    ],
    ...(settled === undefined ? {} : { messages: settled.messages }),
    set: {
      followups: number,
      ...(revives ? { losses: 0, ...(mode === undefined ? {} : { mode }) } : {}),
      ...settled?.set,
    },
    ...(revives ? { remove: [...ENDING_ATTRIBUTES, ...EXECUTION_ATTRIBUTES], checkAt: now + 30_000 } : {}),
    also: [record, item, rateLimitToken(now), ...(settled === undefined ? [] : [settled.checkpoint])],
  };
}
