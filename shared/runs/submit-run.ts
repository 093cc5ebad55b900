import type { Allowance } from "#shared/budgets/budget-store.ts";
import { countRunOfKey, describeKeyLimit } from "#shared/budgets/key-limits.ts";
import { lastRunWrites } from "#shared/environments/environment-store.ts";
import { invalid, RunyardError, retryableConflict } from "#shared/errors.ts";
import {
  IdempotencyRecordExists,
  type IdempotentRequest,
  recordSeconds,
  runIdempotent,
  toIdempotentRequest,
} from "#shared/idempotency/idempotent-request.ts";
import { randomId, sha256, uuidv7 } from "#shared/ids.ts";
import { type RateLimitToken, rateLimited } from "#shared/limits/token-bucket.ts";
import { deriveNotifySecret } from "#shared/notifications/notify-secret.ts";
import { markReceivers } from "#shared/notifications/receivers-mark-store.ts";
import { hashKey, newRunKey } from "#shared/principals/api-key.ts";
import type { Principal } from "#shared/principals/principal.ts";
import { MAX_DESCENDANTS, RUN_CAPS } from "#shared/records/run.ts";
import type { RunBody } from "#shared/records/run-body.ts";
import type { RequestCheck } from "#shared/refusals.ts";
import { createWithinLimits, refuseFullQueue } from "#shared/runs/capacity/admit-run.ts";
import { choosePart } from "#shared/runs/capacity/counter-parts.ts";
import { readFirstResponse, toCreationResult } from "#shared/runs/capacity/first-response.ts";
import { QUEUE_ROOM, RUN_ROOM } from "#shared/runs/capacity/slots.ts";
import type { Owner } from "#shared/table/keys.ts";
import type { Put, Update } from "#shared/table/table.ts";
import { ConflictError } from "#shared/table/transact.ts";
import type { RunAgentRequest, RunAgentResponse } from "#shared/wire/runs/new-run.ts";
import { type ReceivedAttachment, readAttachments, storeAttachments } from "./attachments.ts";
import { continueConversation } from "./conversation-store.ts";
import { isLongPrompt, promptFile, toRunBody } from "./new-run.ts";
import { toNewRunWrites } from "./new-run-store.ts";
import { checkRequest, type PlanCall, planRun, type RunPlan } from "./plan-run.ts";
import type { RunPorts } from "./run-ports.ts";
import { countChild } from "./run-tree-store.ts";

export interface SubmitCall extends PlanCall {
  readonly rateLimitToken: RateLimitToken;
}

export interface SubmittedRun {
  readonly response: RunAgentResponse;
  /** True if an earlier request created the run, whose response this is. */
  readonly replayed: boolean;
}

/**
 * Creates a run once and requests its dispatch. The run is written before the message is sent: the reaper repeats a message
 * that is lost, but nothing could restore a run.
 */
export async function submitRun(call: SubmitCall, ports: RunPorts): Promise<SubmittedRun> {
  const { body: request, principal, header, rateLimitToken } = call;
  const files = readFiles(request);
  const once = toIdempotentRequest(header, principal, "create-run", {
    ...request,
    source: header("x-run-source") ?? header("x-oz-api-source") ?? "",
  });
  const name = nameRequest(once, ports.now());
  return runIdempotent<SubmittedRun>(
    ports.table,
    once,
    ports.now,
    async (record) => {
      const count: Attempt["count"] = (runId, now, atCapacity) => ({
        idempotency: record(toCreationResult(runId, atCapacity)),
        rateLimit: rateLimitToken(now),
      });
      const { response } = await createRun(call, { files, name, count }, ports);
      return { response, replayed: false };
    },
    async (result) => {
      const response = await readFirstResponse(result, ports);
      return { response: { ...response, ...(await secretShown(request, response.run_id, ports)) }, replayed: true };
    },
    { checkFirst: files.present, isDeletable: true },
  );
}

/**
 * Names the logical request in the names of its files, so that attempts in one period store the same files. In a later period, a
 * request with the same key or content is a new one: its run has files of its own, since runs are deleted with theirs.
 */
function nameRequest(once: IdempotentRequest, now: number): string {
  const period = Math.floor(now / (recordSeconds(once) * 1000));
  return sha256(`${once.record.pk}#${period}`).slice(0, 32);
}

/** What of a request is stored as files. */
interface RunFiles {
  readonly attachments: readonly ReceivedAttachment[];
  /** Whether anything is stored as a file, before the run itself. */
  readonly present: boolean;
}

/** Checks a request, and reads its files. */
export function readFiles(request: RunAgentRequest, check?: RequestCheck): RunFiles {
  checkRequest(request, check);
  const attachments = readAttachments(request);
  return { attachments, present: attachments.length > 0 || isLongPrompt(request.prompt) };
}

interface Attempt {
  readonly files: RunFiles;
  /** Names the logical request in the names of its files. */
  readonly name: string;
  /** The writes that count the request: the record of it, and its rate-limit token. */
  readonly count: (
    runId: string,
    now: number,
    atCapacity: boolean,
  ) => { readonly idempotency?: Put; readonly rateLimit?: Update };
}

interface CreatedRun {
  readonly response: RunAgentResponse;
  readonly owner: Owner;
  readonly body: RunBody;
  readonly allowance: Allowance | undefined;
}

/** The request path of a new run: plan it, store its files, write it, request its dispatch. */
export async function createRun(call: PlanCall, attempt: Attempt, ports: RunPorts): Promise<CreatedRun> {
  const now = ports.now();
  const runId = uuidv7(now);
  const plan = await planRun(call, ports);
  if (attempt.files.present) await refuseFullQueue(plan.owner, ports);
  const body = await storeFiles(runId, plan, call.principal, attempt, ports);
  const key = body.execution_location === "LOCAL" ? newRunKey(runId) : undefined;
  const local = key === undefined ? undefined : { execution_id: randomId(), key_hash: hashKey(key) };
  const { owner, parent, conversation, environment, allowance, limits } = plan;
  const part = choosePart(runId, plan.actors.team);
  if (body.notify_url !== undefined) await markReceivers(ports.table);
  const secret = await secretShown(call.body, runId, ports);
  const writes = {
    ...toNewRunWrites({ runId, owner, body, now, local, allowance, limits, scopes: call.principal.scopes, part }),
    ...attempt.count(runId, now, false),
    conversation: conversation && continueConversation(conversation, runId),
    tree: parent && countChild(parent.runId, parent.ancestors[0]),
    lastRun: lastRunWrites(environment, owner, { run_id: runId, title: body.title, created_at: now }),
    key: countRunOfKey(call.principal, now),
  };
  const room = parent === undefined ? RUN_ROOM : QUEUE_ROOM;
  const whenWaiting = attempt.count(runId, now, true);
  const atCapacity = await createWithinLimits(writes, room, ports, whenWaiting).catch(async (error: unknown) => {
    if (!(error instanceof ConflictError)) throw error;
    const isCounted = error.failed.has("idempotency") || !error.failed.has("key");
    throw isCounted ? toRefusal(error, ports.now()) : await describeKeyLimit(call.principal, now, ports.table);
  });
  if (key === undefined) await ports.queue.sendRun(runId, owner).catch(() => undefined);
  const more = key === undefined ? (atCapacity ? { at_capacity: true } : {}) : { run_key: key };
  return { response: { run_id: runId, task_id: runId, state: "QUEUED", ...more, ...secret }, owner, body, allowance };
}

/** The secret that signs what the run's `notify_url` gets, which the response that creates the run shows. */
async function secretShown(
  { notify_url: url }: RunAgentRequest,
  runId: string,
  { table }: RunPorts,
): Promise<Pick<RunAgentResponse, "notify_secret">> {
  return url === undefined ? {} : { notify_secret: await deriveNotifySecret(runId, table) };
}

/** Stores the attachments, and a prompt that is too long for the table, and returns the body that refers to them. */
async function storeFiles(
  runId: string,
  plan: RunPlan,
  principal: Principal,
  { files: { attachments }, name }: Attempt,
  ports: RunPorts,
): Promise<RunBody> {
  const { prompt = "" } = plan.request;
  const file = promptFile(name, prompt);
  const stored = await storeAttachments({ request: name, owner: plan.owner, principal }, attachments, ports);
  if (file !== undefined) await ports.files.put(file, prompt, "text/plain; charset=utf-8");
  return toRunBody(runId, plan, { prompt: file, attachments: stored });
}

function toRefusal({ failed }: ConflictError, now: number): Error {
  if (failed.has("idempotency")) return new IdempotencyRecordExists();
  if (failed.has("rateLimit")) return rateLimited(now);
  if (failed.has("tree")) {
    return new RunyardError("resource_unavailable", {
      status: 429,
      retryable: false,
      detail: `parent_run_id: a run has at most ${RUN_CAPS.children} children, and a tree at most ${MAX_DESCENDANTS} runs below its root`,
    });
  }
  if (failed.has("lastRun")) return invalid("config.environment_id", "the environment is deleted");
  return retryableConflict("the conversation or the parent changed in the meantime; send the request again");
}
