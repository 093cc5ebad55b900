import { randomId } from "#shared/ids.ts";
import { hashKey, newRunKey } from "#shared/principals/api-key.ts";
import { START_LEASE_SECONDS } from "#shared/records/run.ts";
import { parseRunBody } from "#shared/records/run-body.ts";
import { executorOf, isLocal, ownerOf, type RunHead, type SlotKind, startLeaseMs } from "#shared/records/run-head.ts";
import { waitQueueOf } from "#shared/runs/capacity/slots.ts";
import { dequeueNext, enterWaitQueue } from "#shared/runs/capacity/wait-queue.ts";
import { failWaitingRun } from "#shared/runs/end-run.ts";
import { NO_CONTAINERS } from "#shared/runs/own-image.ts";
import type { RunPorts } from "#shared/runs/ports.ts";
import { sendRequeued } from "#shared/runs/requeue-run.ts";
import { RunChangedError } from "#shared/runs/run-store.ts";
import { type Change, EXECUTION_ATTRIBUTES } from "#shared/runs/transition.ts";
import { chooseSandbox } from "#shared/sandbox/choose-sandbox.ts";
import { type Sandbox, type SandboxChoice, StartDeferred } from "#shared/sandbox/sandbox.ts";
import type { SandboxProvider } from "#shared/settings.ts";
import { keys } from "#shared/table/keys.ts";
import type { Envelope } from "#shared/wire/harness.ts";
import { noteSandbox } from "./sandbox-stops.ts";

/** Milliseconds after which a run whose start was put off is looked at again. */
const DEFERRED_CHECK_MS = 5_000;
/** Milliseconds by which the look at a start may come late where one is planned already. */
const LATE_CHECK_MS = 15_000;

/** What starting sandboxes takes. */
export interface DispatchPorts extends RunPorts {
  readonly sandbox: Pick<Sandbox, "start">;
  /** The kinds of sandboxes that this deployment has, the usual one first. */
  readonly offered: readonly SandboxProvider[];
}

/**
 * Starts the execution of a waiting run: takes its owner's slot and a new key in one transaction, then starts the
 * sandbox. A message that comes twice finds the run PENDING without a harness and starts it again, under a new key, so
 * that at most one of the two sandboxes gets anywhere.
 */
export async function dispatchRun(runId: string, ports: DispatchPorts): Promise<void> {
  const head = await ports.runs.head(runId);
  if (head === undefined || isLocal(head)) return;
  if (head.state !== "QUEUED" && head.state !== "PENDING") return;
  if (head.state === "QUEUED" && (await lacksIdentity(head, ports))) {
    return failWaitingRun(runId, "not_authorized", "the identity that the run was to work as is deleted", ports);
  }
  // The deployment had containers when the run was created, or when it ran last.
  if (head.state === "QUEUED" && head.own_image === true && !ports.hasContainers) {
    return failWaitingRun(runId, "operation_not_supported", NO_CONTAINERS, ports);
  }
  const now = ports.now();
  const key = newRunKey(runId);
  const restarts = head.state === "PENDING";
  if (restarts && (head.instance_id !== undefined || now - head.state_since < startLeaseMs(head))) return;
  // A provider that knows its starts by their execution takes no second one with another key.
  if (restarts && head.sandbox !== undefined) {
    return putBack(runId, head.execution_id, "the sandbox did not begin in time", ports);
  }
  const executionId = restarts ? head.execution_id : randomId();
  const choice = restarts ? ({ provider: "lambda" } as const) : await choiceFor(head, ports);
  try {
    // A new start has its full time, as the first one had.
    const anew = { key_hash: hashKey(key), state_since: now, heartbeat_at: now };
    if (restarts) await ports.runs.change(head, { events: [], set: anew }, now);
    else if (!(await takeSlot(head, { executionId, key, choice }, ports))) return;
  } catch (error) {
    // Another dispatcher was faster.
    if (error instanceof RunChangedError) return;
    throw error;
  }
  await start(runId, envelopeOf(runId, executionId, key, ports), choice, ports);
}

/** The sandbox for the next execution of the run; its body is read only where the run's environment names an image of its own. */
async function choiceFor(head: RunHead, { offered, table }: DispatchPorts): Promise<SandboxChoice> {
  const body = head.own_image === true ? await table.get(keys.body(head.run_id)) : undefined;
  const dockerImage = body === undefined ? undefined : parseRunBody(body).docker_image;
  return chooseSandbox({ dockerImage, isLong: head.sliced === true }, offered);
}

/** True where the run was to work as an identity that is gone, and what ends such runs has missed it. */
async function lacksIdentity(head: RunHead, { table }: RunPorts): Promise<boolean> {
  if (head.p.as_identity !== true) return false;
  return (await table.get(keys.identity(ownerOf(head).uid, executorOf(head.p)))) === undefined;
}

/** Moves the run to PENDING with a slot, or parks it where there is none; tells whether it has one. */
async function takeSlot(head: RunHead, start: Start, ports: RunPorts): Promise<boolean> {
  if (head.waiting !== undefined) {
    // Whoever freed a slot may have died before it was handed on.
    await dequeueNext(waitQueueOf(head, head.waiting), ports);
    return false;
  }
  if (head.slot !== undefined) {
    await prepare(head, head.slot, start, ports);
    return true;
  }
  for (let attempt = 0; attempt < 5; attempt++) {
    const root = head.root === undefined ? undefined : await ports.runs.head(head.root);
    const takes = root?.slot === undefined ? "owner" : "tree";
    try {
      await prepare(head, takes, start, ports);
      return true;
    } catch (error) {
      if (!(error instanceof RunChangedError) || error.headChanged) throw error;
    }
    if (await enterWaitQueue(head, takes, ports)) return false;
  }
  // Slots come and go too fast: the message is tried again.
  throw new Error(`run ${head.run_id} found neither a slot nor a place among those that wait for one`);
}

interface Start {
  readonly executionId: string;
  readonly key: string;
  readonly choice: SandboxChoice;
}

function prepare(head: RunHead, takes: SlotKind, { executionId, key, choice }: Start, ports: RunPorts): Promise<void> {
  const now = ports.now();
  const { provider } = choice;
  const startBy = now + START_LEASE_SECONDS[provider] * 1000;
  return ports.runs.change(
    head,
    {
      to: "PENDING",
      takes,
      events: [{ type: "run_pending", data: { state: "PENDING", execution_id: executionId, ...toldOf(provider) } }],
      set: {
        execution_id: executionId,
        key_hash: hashKey(key),
        state_since: now,
        heartbeat_at: now,
        ...(provider === "lambda" ? {} : { sandbox: { provider } }),
      },
      add: { executions: 1 },
      checkAt: { at: startBy, from: startBy, to: startBy + LATE_CHECK_MS },
    },
    now,
  );
}

/** The timeline tells of a sandbox that is no function. */
const toldOf = (provider: SandboxProvider) => (provider === "lambda" ? {} : { sandbox: provider });

async function start(runId: string, envelope: Envelope, choice: SandboxChoice, ports: DispatchPorts): Promise<void> {
  const executionId = envelope.execution_id;
  let handle: string | undefined;
  try {
    handle = await ports.sandbox.start(envelope, choice);
  } catch (error) {
    if (!(error instanceof StartDeferred)) throw error;
    return putBack(runId, executionId, "the sandbox could not be started just now", ports, { unstarted: true });
  }
  await noteSandbox(runId, { provider: choice.provider, executionId, handle }, ports);
}

/** Starts of an environment's own image without a word of the harness, in a row, after which the run ends. */
const MAX_SILENT_STARTS = 3;
const SILENT_IMAGE = `the environment's docker_image did not start the harness, ${MAX_SILENT_STARTS} times in a row: it has to be public, for arm64, and have glibc`;

/** A start that did not come about: the run waits again and is offered once more, soon. */
export async function putBack(
  runId: string,
  executionId: string,
  why: string,
  ports: RunPorts,
  start: Pick<Change, "unstarted"> = {},
): Promise<void> {
  const head = await ports.runs.head(runId);
  if (head?.state !== "PENDING" || head.execution_id !== executionId) return;
  const now = ports.now();
  // Nobody but the environment's owner can put an image right.
  const silent = head.sandbox?.provider === "fargate" && start.unstarted !== true ? (head.silent_starts ?? 0) + 1 : 0;
  if (silent >= MAX_SILENT_STARTS) return failWaitingRun(runId, "environment_setup_failed", SILENT_IMAGE, ports);
  try {
    await ports.runs.change(
      head,
      {
        ...start,
        to: "QUEUED",
        events: [{ type: "run_queued", data: { state: "QUEUED", detail: why } }],
        ...(silent === 0 ? {} : { set: { silent_starts: silent } }),
        remove: EXECUTION_ATTRIBUTES,
        checkAt: now + DEFERRED_CHECK_MS,
      },
      now,
    );
  } catch (error) {
    // It began, or was cancelled, just now.
    if (error instanceof RunChangedError) return;
    throw error;
  }
  await sendRequeued(head, ports);
}

function envelopeOf(runId: string, executionId: string, key: string, ports: RunPorts): Envelope {
  return {
    version: 1,
    base_url: ports.baseUrl,
    model_url: ports.modelUrl ?? `${ports.baseUrl}/model`,
    run_id: runId,
    execution_id: executionId,
    key,
  };
}
