import { refuseDisks } from "#shared/environments/repositories.ts";
import { invalid, RunyardError } from "#shared/errors.ts";
import { type FileStore, fileKeys } from "#shared/files/file-store.ts";
import {
  IdempotencyRecordExists,
  type IdempotentRequest,
  runIdempotent,
} from "#shared/idempotency/idempotent-request.ts";
import { sha256 } from "#shared/ids.ts";
import { type RateLimitToken, rateLimited } from "#shared/limits/token-bucket.ts";
import { isTerminal, RUN_CAPS } from "#shared/records/run.ts";
import { INLINE_BYTES } from "#shared/records/run-body.ts";
import { type EndedHead, isEndedHead, isLocal, parseOwner, type RunHead } from "#shared/records/run-head.ts";
import { moveTail } from "#shared/runs/conversation-store.ts";
import type { FoundRun } from "#shared/runs/read-run.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { RunChangedError } from "#shared/runs/run-store.ts";
import { readEndedTail } from "#shared/runs/run-tree.ts";
import { type Change, ENDING_ATTRIBUTES, EXECUTION_ATTRIBUTES, START_COUNTERS } from "#shared/runs/transition.ts";
import type { Item, Put } from "#shared/table/table.ts";
import { CONTINUE_MESSAGE, type Followup } from "#shared/wire/harness.ts";
import { toTimestamp } from "#shared/wire/primitives.ts";
import type { FollowupPolicy, RunFollowupRequest, RunMode } from "#shared/wire/run.ts";
import { parseFollowup, putFollowup } from "./followup-store.ts";
import { type SettledTurn, settleLastTurn } from "./last-turn.ts";

/** Reads follow-ups above `stored`, in order. */
export async function readFollowups(
  { run_id, followups_cancelled }: RunHead,
  stored: number,
  ports: Pick<RunPorts, "runs" | "files">,
): Promise<Followup[]> {
  const items = await ports.runs.followupItems(run_id, stored);
  const followups = await Promise.all(items.map((item) => toFollowup(item, ports.files)));
  return followups.map((it) => (it.number > followups_cancelled ? it : { ...it, cancelled: true }));
}

async function toFollowup(item: Item, files: FileStore): Promise<Followup> {
  const { number, message, message_file, policy, created_at } = parseFollowup(item);
  const text = message ?? (message_file === undefined ? undefined : await files.get(message_file));
  if (text === undefined) throw new Error(`the text of follow-up ${number} is missing`);
  return { number, message: text.toString(), policy, created_at: toTimestamp(created_at) };
}

/** Stores a follow-up of a run in any state. A run that has ended returns to the queue with it. */
export async function submitFollowup(
  { head: first, body: { conversation_id: conversationId, config } }: FoundRun,
  { message, mode, policy = "enqueue" }: RunFollowupRequest,
  { once, rateLimitToken }: { readonly once: IdempotentRequest; readonly rateLimitToken: RateLimitToken },
  ports: RunPorts,
): Promise<{ replayed: boolean }> {
  const text = message ?? CONTINUE_MESSAGE;
  const isLong = Buffer.byteLength(text) > INLINE_BYTES;
  const file = fileKeys.followup(first.run_id, sha256(text));
  if (isLong) await ports.files.put(file, text, "text/plain; charset=utf-8");
  const content = { ...(isLong ? { message_file: file } : { message: text }), policy };
  return runIdempotent<{ replayed: boolean }>(
    ports.table,
    once,
    ports.now,
    async (record) => {
      if (message === undefined && !isTerminal(first.state))
        throw invalid("message", "is required unless the run has ended");
      // The run may have been created while the service was for its own machine only.
      if (isTerminal(first.state)) refuseDisks(config.repositories, "config.repositories");
      // Without a message, the run continues where it stopped, including a cancelled instruction.
      const hasMessage = message !== undefined;
      const along = { record: record(first.run_id), rateLimitToken, hasMessage, mode, conversationId };
      await writeFollowup(first, content, along, ports);
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

/** What is written together with a follow-up. */
interface Along {
  readonly record: Put;
  readonly rateLimitToken: RateLimitToken;
  readonly hasMessage: boolean;
  /** The mode of the execution that the follow-up starts, if it starts one. @default the run's own */
  readonly mode: RunMode | undefined;
  readonly conversationId: string;
}

async function writeFollowup(first: RunHead, content: Content, along: Along, ports: RunPorts): Promise<void> {
  let head: RunHead | undefined = first;
  for (let attempt = 0; head !== undefined && attempt < 8; attempt++) {
    if (isLocal(head) && isTerminal(head.state)) {
      throw new RunyardError("operation_not_supported", {
        detail:
          "the run was executed by its caller and has ended: to continue its conversation, create a run with conversation_id",
      });
    }
    if (content.policy === "reject" && !isTerminal(head.state)) {
      throw new RunyardError("conflict", {
        detail: `policy: the run is ${head.state} and has not ended; send the follow-up later, or with the policy enqueue`,
        retryable: false,
      });
    }
    if (head.followups >= RUN_CAPS.followups) {
      throw new RunyardError("resource_unavailable", {
        status: 429,
        detail: `a run stores at most ${RUN_CAPS.followups} follow-ups`,
      });
    }
    const now = ports.now();
    const revival = isEndedHead(head) ? await prepareRevival(head, along, ports) : undefined;
    try {
      await ports.runs.change(head, toFollowupChange(head, content, along, now, revival), now);
      if (isTerminal(head.state)) await ports.queue.sendRun(head.run_id, parseOwner(head)).catch(() => undefined);
      return;
    } catch (error) {
      if (!(error instanceof RunChangedError)) throw error;
      if (!error.headChanged && !error.failed.has("tail")) {
        if (error.failed.has("rateLimit") && !error.failed.has("idempotency")) throw rateLimited(now);
        throw new IdempotencyRecordExists();
      }
    }
    head = await ports.runs.head(first.run_id);
  }
  throw new RunyardError("conflict", { detail: "the run changes too fast; send the follow-up again", retryable: true });
}

/** What continues an ended run: it becomes the latest of its conversation, whose latest run must have ended too. */
interface Revival {
  readonly settled: SettledTurn | undefined;
  readonly tail: Put;
}

async function prepareRevival(head: EndedHead, along: Along, ports: RunPorts): Promise<Revival> {
  const tail = await readEndedTail(along.conversationId, ports.table, { runId: head.run_id });
  return { settled: await settleLastTurn(head, along.hasMessage, ports), tail: moveTail(tail, head.run_id) };
}

/** Attributes that an ended run loses when a follow-up restarts it. */
const REVIVED_WITHOUT = ["restarts", ...START_COUNTERS, ...ENDING_ATTRIBUTES, ...EXECUTION_ATTRIBUTES];

function toFollowupChange(
  head: RunHead,
  content: Content,
  { record, rateLimitToken, mode }: Along,
  now: number,
  revival: Revival | undefined,
): Change {
  const number = head.followups + 1;
  const revives = revival !== undefined;
  const settled = revival?.settled;
  const followup = putFollowup(head.run_id, { number, ...content, created_at: now });
  return {
    ...(revives ? { to: "QUEUED" as const } : {}),
    touch: true,
    events: [
      { type: "followup_received", data: { number, policy: content.policy, ...(revives ? { state: "QUEUED" } : {}) } },
    ],
    ...(settled?.messages === undefined ? {} : { messages: settled.messages }),
    set: {
      followups: number,
      ...(revives ? { losses: 0, ...(mode === undefined ? {} : { mode }) } : {}),
      ...settled?.set,
    },
    ...(revives ? { remove: REVIVED_WITHOUT, checkAt: now + 30_000 } : {}),
    also: {
      idempotency: record,
      followup,
      rateLimit: rateLimitToken(now),
      checkpoint: settled?.checkpoint,
      tail: revival?.tail,
    },
  };
}
