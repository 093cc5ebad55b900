import { childAllowance, ownAllowance } from "#shared/budgets/budget.ts";
import {
  environmentOfRun,
  environmentReader,
  isLastRun,
  lastRunWrites,
  setupOf,
  withEnvironment,
} from "#shared/environments/run-environment.ts";
import { invalid, RunyardError, retryableConflict } from "#shared/errors.ts";
import { fileKeys } from "#shared/files/file-store.ts";
import {
  IdempotencyRecordExists,
  type IdempotentRequest,
  runIdempotent,
  toIdempotentRequest,
} from "#shared/idempotency/idempotent-request.ts";
import { randomId, sha256, uuidv7 } from "#shared/ids.ts";
import { type RateLimitToken, throwIfRateLimited } from "#shared/limits/token-bucket.ts";
import { hashKey, newRunKey } from "#shared/principals/api-key.ts";
import { ownerOfNew } from "#shared/principals/owner-of-new.ts";
import type { Principal } from "#shared/principals/principal.ts";
import { DEFAULT_QUEUE_LIMIT, MAX_DESCENDANTS, RUN_CAPS, titleOf } from "#shared/records/run.ts";
import { INLINE_BYTES, type RunBody } from "#shared/records/run-body.ts";
import { QUEUE_ROOM, RUN_ROOM } from "#shared/runs/capacity/slots.ts";
import { secretsOf } from "#shared/secrets/run-secrets.ts";
import { keys, type Owner } from "#shared/table/keys.ts";
import { ConditionFailed, type Conditions, type Put, type TransactionWrite } from "#shared/table/table.ts";
import { MAX_METADATA } from "#shared/wire/metadata.ts";
import type { RunAgentRequest, RunAgentResponse } from "#shared/wire/run.ts";
import { actorsOf } from "./actors.ts";
import { type ReceivedAttachment, readAttachments, storeAttachments } from "./attachments.ts";
import { boundsOf, refuseBeyond, withinRun } from "./child-rights.ts";
import { withDefaults } from "./config-layers.ts";
import { newRunWrites } from "./new-run.ts";
import { refuseIgnoredImage } from "./own-image.ts";
import { checkConfig, checkRequest, resolveConfig, skillsOf, sourceOf } from "./plan-run.ts";
import type { RunPorts } from "./ports.ts";
import { continuedConversation, isTreeCount, parentOf } from "./run-tree.ts";

export interface CreateCall {
  readonly body: RunAgentRequest;
  readonly principal: Principal;
  readonly header: (name: string) => string | undefined;
  readonly rateLimitToken: RateLimitToken;
}

export interface Created {
  readonly response: RunAgentResponse;
  /** True where an earlier request had made the run. */
  readonly replayed: boolean;
}

/**
 * Creates a run once and asks for its dispatch. Written first and sent after: a message that is lost is found again by
 * the reaper, a run that is lost is not.
 */
export async function createRun(call: CreateCall, ports: RunPorts): Promise<Created> {
  const { body: request, principal, header } = call;
  checkRequest(request);
  const attachments = readAttachments(request);
  const once = toIdempotentRequest(header, principal, "create-run", {
    ...request,
    source: header("x-run-source") ?? header("x-oz-api-source") ?? "",
  });
  return runIdempotent<Created>(
    ports.table,
    once,
    ports.now,
    async (record) => ({
      response: await writeRun(call, { attachments, request: requestNameOf(once), record }, ports),
      replayed: false,
    }),
    async (runId) => {
      const head = await ports.runs.head(runId);
      if (head === undefined) throw new RunyardError("internal_error");
      return { response: { run_id: runId, task_id: runId, state: head.state }, replayed: true };
    },
    { checkFirst: bringsFiles(request, attachments) },
  );
}

/** Whether something of the request is stored as a file, before the run itself. */
const bringsFiles = (request: RunAgentRequest, attachments: readonly ReceivedAttachment[]): boolean =>
  attachments.length > 0 || Buffer.byteLength(request.prompt ?? "") > INLINE_BYTES;

/** A name of the logical request for files: the same for each attempt at it. */
const requestNameOf = ({ record }: IdempotentRequest): string => sha256(record.pk).slice(0, 32);

interface FirstTry {
  readonly attachments: readonly ReceivedAttachment[];
  /** Names the logical request in files. */
  readonly request: string;
  readonly record: (runId: string) => Put;
}

async function writeRun(
  { body: request, principal, header, rateLimitToken }: CreateCall,
  { attachments, request: requestName, record }: FirstTry,
  ports: RunPorts,
): Promise<RunAgentResponse> {
  const now = ports.now();
  const runId = uuidv7(now);
  const parent = await parentOf(request, principal, ports);
  const owner = ownerOfNew(request, principal, parent);
  const { creator, executor, ...layers } = await actorsOf(request, principal, parent?.executor, owner, ports.table);
  const bounds = await boundsOf(principal, parent, ports);
  if (bounds !== undefined) refuseBeyond(request, bounds);
  const filled = withDefaults(request, layers);
  const chosen = bounds === undefined ? filled : withinRun(filled, bounds);
  const asker = { ...environmentReader(principal, owner), inherited: bounds?.config.environment_id };
  const environment = await environmentOfRun(chosen.config, asker, ports.table);
  const full = withEnvironment(chosen, environment);
  if (full !== request) checkConfig(full);
  const { execution_location = "REMOTE" } = request;
  refuseIgnoredImage({ ...setupOf(environment), execution_location }, ports);
  const conversation = await continuedConversation(request, principal, ports);
  const prompt = request.prompt ?? "";
  const resolved = resolveConfig(full);
  const ownBudget = resolved.budget_usd;
  const allowance =
    parent === undefined ? ownAllowance(ownBudget) : await childAllowance(ownBudget, parent, ports.table);
  // A child shows whose budget it draws on where it has none of its own.
  const inherited = parent?.budgetUsd;
  const config = ownBudget === undefined && inherited !== undefined ? { ...resolved, budget_usd: inherited } : resolved;
  const [skill] = skillsOf(full);
  const metadata = { ...parent?.metadata, ...request.metadata };
  if (Object.keys(metadata).length > MAX_METADATA) {
    throw invalid("metadata", `must have at most ${MAX_METADATA} keys together with the parent's`);
  }
  const isLong = Buffer.byteLength(prompt) > INLINE_BYTES;
  const promptFile = isLong ? fileKeys.prompt(requestName, sha256(prompt)) : undefined;
  if (bringsFiles(request, attachments)) await refuseFullQueue(owner, ports);

  const body: RunBody = {
    title: request.title?.trim() || titleOf(prompt, skill),
    prompt: isLong ? [...prompt.slice(0, 2_000)].slice(0, 1_000).join("") : prompt,
    ...(promptFile === undefined ? {} : { prompt_file: promptFile }),
    config,
    ...setupOf(environment),
    ...secretsOf({ owner, creator, environment, identity: layers.identity, parent }),
    creator,
    executor,
    source: sourceOf(header, parent !== undefined),
    execution_location,
    conversation_id: conversation?.id ?? runId,
    ...(parent === undefined ? {} : { parent_run_id: parent.runId }),
    ancestors: parent === undefined ? [] : [...parent.ancestors, parent.runId],
    mode: request.mode ?? "normal",
    interactive: request.interactive ?? false,
    ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
    attachments: await storeAttachments({ request: requestName, owner, principal }, attachments, ports),
  };
  if (promptFile !== undefined) await ports.files.put(promptFile, prompt, "text/plain; charset=utf-8");

  const key = body.execution_location === "LOCAL" ? newRunKey(runId) : undefined;
  const local = key === undefined ? undefined : { execution_id: randomId(), key_hash: hashKey(key) };
  const writes = [
    ...newRunWrites(runId, owner, body, now, local, allowance),
    record(runId),
    ...(conversation?.writes(runId) ?? []),
    ...(parent === undefined ? [] : parent.counted),
    ...lastRunWrites(environment, owner, { run_id: runId, title: body.title, created_at: now }),
    rateLimitToken(now),
  ];
  const atCapacity = await writeWithin(
    writes,
    keys.counters(owner).pk,
    parent === undefined ? RUN_ROOM : QUEUE_ROOM,
    ports,
    refusal,
  );
  if (key !== undefined) return { run_id: runId, task_id: runId, state: "QUEUED", run_key: key };
  await ports.queue.sendRun(runId, owner).catch(() => undefined);
  return { run_id: runId, task_id: runId, state: "QUEUED", ...(atCapacity ? { at_capacity: true } : {}) };
}

/** Writes the run if the queue has room; true where there is none beyond that, so that it will wait for a slot. */
export async function writeWithin(
  writes: readonly TransactionWrite[],
  ownerPk: string,
  room: Conditions,
  ports: RunPorts,
  refused: (error: unknown, writes: readonly TransactionWrite[], now: number) => unknown,
): Promise<boolean> {
  const isCounter = (write: TransactionWrite) => write.kind === "update" && write.key.pk === ownerPk;
  const limited = (limit: Conditions) => writes.map((write) => (isCounter(write) ? { ...write, if: limit } : write));
  const counter = writes.findIndex(isCounter);
  const onlyCounter = (error: unknown) =>
    error instanceof ConditionFailed && error.positions.every((position) => position === counter);
  try {
    await ports.runs.create(limited(room));
    return false;
  } catch (error) {
    if (!onlyCounter(error)) throw refused(error, writes, ports.now());
  }
  try {
    await ports.runs.create(limited(QUEUE_ROOM));
    return true;
  } catch (error) {
    if (!onlyCounter(error)) throw refused(error, writes, ports.now());
    throw queueFull();
  }
}

const queueFull = () =>
  new RunyardError("resource_unavailable", {
    status: 429,
    retryAfterSeconds: 10,
    detail: "the queue is full: as many runs wait already as the team may have (queue_limit)",
  });

/** Refuses before files are stored in vain; what decides in the end is the condition of the run's own transaction. */
async function refuseFullQueue(owner: Owner, { table }: RunPorts): Promise<void> {
  const counters = await table.get(keys.counters(owner));
  const limit = counters?.["queue_limit"] ?? DEFAULT_QUEUE_LIMIT;
  if (Number(counters?.["queued"] ?? 0) >= Number(limit)) throw queueFull();
}

function refusal(error: unknown, writes: readonly TransactionWrite[], now: number): unknown {
  if (!(error instanceof ConditionFailed)) return error;
  const record = writes.findIndex((write) => write.kind === "put" && write.item.sk === "IDEM");
  if (error.positions.includes(record)) return new IdempotencyRecordExists();
  throwIfRateLimited(error, writes, now);
  if (error.positions.some((position) => isTreeCount(writes[position]))) {
    return new RunyardError("resource_unavailable", {
      status: 429,
      retryable: false,
      detail: `parent_run_id: a run has at most ${RUN_CAPS.children} children, and a tree at most ${MAX_DESCENDANTS} runs below its root`,
    });
  }
  if (error.positions.some((position) => isLastRun(writes[position]))) {
    return invalid("config.environment_id", "the environment is deleted");
  }
  return retryableConflict("the conversation or the parent changed in between; send the request again");
}
