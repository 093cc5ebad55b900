import { refuseDisks } from "#shared/environments/repositories.ts";
import { invalid, RunyardError } from "#shared/errors.ts";
import { readOrigin } from "#shared/http/audit/trail.ts";
import {
  IdempotencyRecordExists,
  type IdempotentRequest,
  runIdempotent,
} from "#shared/idempotency/idempotent-request.ts";
import { type RateLimitToken, rateLimited } from "#shared/limits/token-bucket.ts";
import { formatName, type Principal } from "#shared/principals/principal.ts";
import { resetSteps } from "#shared/records/budget-account.ts";
import { putFollowup, type StoredFollowup, storeText } from "#shared/records/followup.ts";
import { isTerminal, RUN_CAPS } from "#shared/records/run.ts";
import type { StoredAttachment } from "#shared/records/run-body.ts";
import {
  type EndedHead,
  isEndedHead,
  isIdle,
  isLocal,
  isOnOwnSandbox,
  parseOwner,
  type RunHead,
} from "#shared/records/run-head.ts";
import { findTraceParent } from "#shared/records/trace-parent.ts";
import { type Answer, decideApproval, findEarlierAnswer, readAnswer } from "#shared/runs/approvals/decide.ts";
import { toOwnerQueueEntry } from "#shared/runs/capacity/slot-store.ts";
import { attemptOnHead } from "#shared/runs/change-run.ts";
import { moveTail } from "#shared/runs/conversation-store.ts";
import type { FoundRun } from "#shared/runs/read-run.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { RunChangedError } from "#shared/runs/run-store.ts";
import { readEndedTail } from "#shared/runs/run-tree.ts";
import {
  type AttributeChange,
  ENDING_ATTRIBUTES,
  type EndChange,
  EXECUTION_ATTRIBUTES,
  START_COUNTERS,
} from "#shared/runs/transition.ts";
import type { Put, Update } from "#shared/table/table.ts";
import { ConflictError } from "#shared/table/transact.ts";
import { CONTINUE_MESSAGE } from "#shared/wire/harness.ts";
import type { UserProfile } from "#shared/wire/run.ts";
import type { FollowupPolicy, RunFollowupRequest } from "#shared/wire/runs/followup.ts";
import { storeFollowupAttachments } from "./followup-attachments.ts";
import { type FollowupReceipt, formatReceipt, parseReceipt, toReceipt, toSender } from "./followup-receipt.ts";
import { type SettledTurn, settleLastTurn } from "./last-turn.ts";

interface FollowupCall {
  readonly principal: Principal;
  readonly once: IdempotentRequest;
  readonly rateLimitToken: RateLimitToken;
  /** Reads a header of the request by its lower-case name. */
  readonly header: (name: string) => string | undefined;
}

/** Stores a follow-up of a run in any state. A run that has ended returns to the queue with it. */
export async function submitFollowup(
  { head: first, body: { conversation_id: conversationId, config } }: FoundRun,
  request: RunFollowupRequest,
  { principal, once, rateLimitToken, header }: FollowupCall,
  ports: RunPorts,
): Promise<{ receipt: FollowupReceipt; replayed: boolean }> {
  const { attachments = [], mode, policy = "enqueue" } = request;
  const answer = readAnswer(request, principal);
  const reason = request.message ?? "";
  const message = answer === undefined || reason !== "" ? reason : `${answer.approved ? "Approved" : "Denied"}.`;
  // Without a message, the run continues where it stopped, including a cancelled instruction.
  const hasMessage = message !== "" || attachments.length > 0;
  const text = hasMessage ? message : CONTINUE_MESSAGE;
  const traceparent = findTraceParent(header("traceparent"), undefined, principal.kind === "run");
  const content = {
    ...(traceparent === undefined ? {} : { traceparent }),
    ...(await storeText(first.run_id, text, ports.files)),
    policy,
    ...(mode === undefined ? {} : { mode }),
    created_by: toSender(principal),
    ...readOrigin(),
  };
  return runIdempotent<{ receipt: FollowupReceipt; replayed: boolean }>(
    ports.table,
    once,
    ports.now,
    async (record) => {
      if (!hasMessage && !isTerminal(first.state))
        throw invalid("message", "is required unless the run has ended, or there are attachments");
      // The run may have been created while the service was for its own machine only.
      if (isTerminal(first.state)) refuseDisks(config.repositories, "config.repositories");
      const stored = await storeFollowupAttachments(attachments, first, principal, ports);
      const files = stored.length === 0 ? {} : { attachments: stored };
      const toWrites = (receipt: FollowupReceipt) => ({ idempotency: record(formatReceipt(receipt)) });
      const sender = formatName(principal);
      const context = {
        toWrites,
        toError: recordExists,
        rateLimitToken,
        hasMessage,
        conversationId,
        answer,
        reason,
        sender,
      };
      return { receipt: await writeFollowup(first, { ...content, ...files }, context, ports), replayed: false };
    },
    async (result) => ({ receipt: parseReceipt(result, first), replayed: true }),
  );
}

const recordExists = (): Error => new IdempotencyRecordExists();

const BY_TRIGGER = { via: "trigger" } as const;

interface EventFollowup {
  readonly message: string;
  readonly policy: FollowupPolicy;
  readonly attachments: readonly StoredAttachment[];
  readonly sender: UserProfile;
  readonly toWrites: FollowupContext["toWrites"];
}

/**
 * Stores a follow-up that an event sends, together with other writes.
 * @throws ConflictError naming those whose conditions failed
 */
export async function submitEventFollowup(
  { head, body }: FoundRun,
  { message, policy, attachments, sender, toWrites }: EventFollowup,
  ports: RunPorts,
): Promise<FollowupReceipt> {
  if (isTerminal(head.state)) refuseDisks(body.config.repositories, "config.repositories");
  const text = await storeText(head.run_id, message, ports.files);
  const content = { ...text, policy, attachments: [...attachments], created_by: sender, origin: BY_TRIGGER };
  const { conversation_id: conversationId } = body;
  const toError = (failed: ReadonlySet<string>) => new ConflictError(failed);
  const by = { sender: sender.display_name ?? sender.uid, reason: message };
  const context = { toWrites, toError, hasMessage: true, conversationId, ...by };
  return writeFollowup(head, content, context, ports);
}

type Content = Omit<StoredFollowup, "number" | "created_at">;

/** What is written together with a follow-up. */
interface FollowupContext {
  readonly toWrites: (receipt: FollowupReceipt) => Readonly<Record<string, Put | Update | undefined>>;
  /** What is thrown where one of these writes fails. */
  readonly toError: (failed: ReadonlySet<string>) => Error;
  /** Counts the follow-up of a caller; those of events have rates of their own. */
  readonly rateLimitToken?: RateLimitToken;
  readonly hasMessage: boolean;
  readonly conversationId: string;
  /** The answer to the request of an approval. */
  readonly answer?: Answer | undefined;
  readonly reason: string;
  readonly sender: string;
}

function writeFollowup(
  first: RunHead,
  content: Content,
  context: FollowupContext,
  ports: RunPorts,
): Promise<FollowupReceipt> {
  return attemptOnHead(first, ports, async (head) => {
    const earlier = context.answer === undefined ? undefined : findEarlierAnswer(head, context.answer);
    if (earlier !== undefined) return { runId: head.run_id, number: earlier, outcome: "handoff_execution" };
    const refusal = findRefusal(head, content.policy);
    if (refusal !== undefined) throw refusal;
    const now = ports.now();
    const receipt = toReceipt(head);
    const revival = isEndedHead(head) ? await prepareRevival(head, context, ports) : undefined;
    const toWrites = (given: FollowupReceipt) =>
      toFollowupWrites(head, content, { ...context, receipt: given }, now, revival);
    try {
      if (needsSlot(head)) return await continueIdleRun(head, receipt, toWrites, ports);
      const state = revival === undefined ? ({ touch: true } as const) : toRestart(head, now);
      await ports.runs.change(head, { ...toWrites(receipt), ...state }, now);
    } catch (error) {
      if (!(error instanceof RunChangedError) || error.headChanged || error.failed.has("tail")) throw error;
      if (error.failedOnly("rateLimit")) throw rateLimited(now);
      throw context.toError(error.failed);
    }
    if (isTerminal(head.state)) await ports.queue.sendRun(head.run_id, parseOwner(head)).catch(() => undefined);
    return receipt;
  });
}

/** Whether the run has given its slot back while it waits for a follow-up. */
const needsSlot = (head: RunHead): boolean =>
  isIdle(head) && head.slot === undefined && head.waiting === undefined && isOnOwnSandbox(head);

/** Continues an idle run in a slot of its owner, or lets it wait for one. */
async function continueIdleRun(
  head: RunHead,
  receipt: FollowupReceipt,
  toWrites: (receipt: FollowupReceipt) => FollowupWrites,
  ports: RunPorts,
): Promise<FollowupReceipt> {
  const now = ports.now();
  try {
    await ports.runs.change(head, { ...toWrites(receipt), touch: true, ownerSlot: "take" }, now);
    return receipt;
  } catch (error) {
    if (!(error instanceof RunChangedError) || !error.failedOnly("ownerCounters")) throw error;
  }
  const pending: FollowupReceipt = { ...receipt, outcome: "queue_pending" };
  const { set, also, ...followup } = toWrites(pending);
  const queue = toOwnerQueueEntry(head);
  const change = { ...followup, touch: true, set: { ...set, ...queue.set }, also: { ...also, ...queue.writes } };
  await ports.runs.change(head, change, now);
  // A slot may have become free in the meantime.
  await ports.queue.sendRun(head.run_id, parseOwner(head)).catch(() => undefined);
  return pending;
}

/** Why the run takes no follow-up with this policy. */
function findRefusal(head: RunHead, policy: FollowupPolicy): RunyardError | undefined {
  if (isLocal(head) && isTerminal(head.state)) {
    return new RunyardError("operation_not_supported", {
      detail:
        "the run was executed by its caller and has ended: to continue its conversation, create a run with conversation_id",
    });
  }
  if (policy === "reject" && !isTerminal(head.state)) {
    return new RunyardError("conflict", {
      detail: `policy: the run is ${head.state} and has not ended; send the follow-up later, or with the policy enqueue`,
      retryable: false,
    });
  }
  if (head.followups >= RUN_CAPS.followups) {
    return new RunyardError("resource_unavailable", {
      status: 429,
      detail: `a run stores at most ${RUN_CAPS.followups} follow-ups`,
    });
  }
  return undefined;
}

/** What continues an ended run: it becomes the latest of its conversation, whose latest run must have ended too. */
interface Revival {
  readonly settled: SettledTurn | undefined;
  readonly tail: Put;
}

async function prepareRevival(head: EndedHead, context: FollowupContext, ports: RunPorts): Promise<Revival> {
  const tail = await readEndedTail(context.conversationId, ports.table, { runId: head.run_id });
  return { settled: await settleLastTurn(head, context.hasMessage, ports), tail: moveTail(tail, head.run_id) };
}

/** How many follow-ups were sent before the run started, where this one decides it. */
function countEarly(head: RunHead, number: number): Pick<RunHead, "early_followups"> {
  if (head.started_at === undefined) return { early_followups: number };
  return number === 1 ? { early_followups: 0 } : {};
}

/** Attributes that an ended run loses when a follow-up restarts it. */
const REVIVED_WITHOUT = ["restarts", ...START_COUNTERS, ...ENDING_ATTRIBUTES, ...EXECUTION_ATTRIBUTES] as const;

/** What queues an ended run for another execution. */
const toRestart = ({ ends_by }: RunHead, now: number) =>
  ({
    to: "QUEUED",
    remove: ends_by === undefined ? REVIVED_WITHOUT : [...REVIVED_WITHOUT, "ends_by"],
    checkAt: now + 30_000,
  }) as const satisfies Omit<EndChange, "events">;

/** What a follow-up writes, whether it restarts its run or not. */
type FollowupWrites = Required<Pick<AttributeChange, "events" | "set" | "also">> & Pick<AttributeChange, "messages">;

function toFollowupWrites(
  head: RunHead,
  content: Content,
  {
    toWrites,
    rateLimitToken,
    receipt,
    answer,
    reason,
    sender,
  }: FollowupContext & { readonly receipt: FollowupReceipt },
  now: number,
  revival: Revival | undefined,
): FollowupWrites {
  const { number } = receipt;
  const { policy, mode } = content;
  const revives = revival !== undefined;
  const settled = revival?.settled;
  const { decision, ...decided } = decideApproval(head, answer, { number, by: sender, reason });
  const answered = decision === undefined ? {} : { decision };
  const followup = putFollowup(head.run_id, { number, ...content, ...answered, created_at: now });
  return {
    events: [
      ...decided.events,
      { type: "followup_received", data: { number, policy, ...(revives ? { state: "QUEUED" } : {}) } },
    ],
    ...(settled?.messages === undefined ? {} : { messages: settled.messages }),
    set: {
      followups: number,
      ...countEarly(head, number),
      ...(revives ? { losses: 0, turn_from: head.next_sequence, ...(mode === undefined ? {} : { mode }) } : {}),
      ...settled?.set,
      ...decided.set,
    },
    also: {
      ...toWrites(receipt),
      followup,
      rateLimit: rateLimitToken?.(now),
      checkpoint: settled?.checkpoint,
      tail: revival?.tail,
      // The run has its limits again.
      steps: revives && head.lim?.includes(head.run_id) === true ? resetSteps(head.run_id) : undefined,
    },
  };
}
