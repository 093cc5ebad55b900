import { randomId } from "#shared/ids.ts";
import { hashKey, newRunKey } from "#shared/principals/api-key.ts";
import { type Sandbox, StartDeferred } from "#shared/sandbox/sandbox.ts";
import { keys } from "#shared/table/keys.ts";
import type { Envelope } from "#shared/wire/harness.ts";
import { failUnbegun } from "./execution.ts";
import { grantNext, park } from "./parked.ts";
import type { RunPorts } from "./ports.ts";
import { START_LEASE_SECONDS } from "./run.ts";
import { EXECUTION_ATTRIBUTES } from "./run-change.ts";
import { executorOf, isLocal, ownerOf, type RunHead, type SlotKind } from "./run-head.ts";
import { Raced } from "./run-store.ts";
import { lineOf } from "./slots.ts";

/** Milliseconds after which a run whose start was put off is looked at again. */
const DEFERRED_CHECK_MS = 5_000;
/** Milliseconds by which the look at a start may come late where one is planned already. */
const LATE_CHECK_MS = 15_000;

/**
 * Starts the execution of a waiting run: takes its owner's slot and a new key in one transaction, then starts the
 * sandbox. A message that comes twice finds the run PENDING without a harness and starts it again, under a new key, so
 * that at most one of the two sandboxes gets anywhere.
 */
export async function dispatchRun(runId: string, ports: RunPorts & { readonly sandbox: Sandbox }): Promise<void> {
  const head = await ports.runs.head(runId);
  if (head === undefined || isLocal(head)) return;
  if (head.state !== "QUEUED" && head.state !== "PENDING") return;
  if (head.state === "QUEUED" && (await lacksIdentity(head, ports))) {
    return failUnbegun(runId, "not_authorized", "the identity that the run was to work as is deleted", ports);
  }
  const now = ports.now();
  const key = newRunKey(runId);
  const restarts = head.state === "PENDING";
  if (restarts && (head.instance_id !== undefined || now - head.state_since < START_LEASE_SECONDS * 1000)) return;
  const executionId = restarts ? head.execution_id : randomId();
  try {
    // A new start has its full time, as the first one had.
    const anew = { key_hash: hashKey(key), state_since: now, beat_at: now };
    if (restarts) await ports.runs.change(head, { events: [], set: anew }, now);
    else if (!(await takeSlot(head, executionId, key, ports))) return;
  } catch (error) {
    // Another dispatcher was faster.
    if (error instanceof Raced) return;
    throw error;
  }
  await start(runId, envelopeOf(runId, executionId, key, ports), ports);
}

/** True where the run was to work as an identity that is gone, and what ends such runs has missed it. */
async function lacksIdentity(head: RunHead, { table }: RunPorts): Promise<boolean> {
  if (head.p.as_identity !== true) return false;
  return (await table.get(keys.identity(ownerOf(head).uid, executorOf(head.p)))) === undefined;
}

/** Moves the run to PENDING with a slot, or parks it where there is none; tells whether it has one. */
async function takeSlot(head: RunHead, executionId: string, key: string, ports: RunPorts): Promise<boolean> {
  if (head.parked !== undefined) {
    // Whoever freed a slot may have died before it was handed on.
    await grantNext(lineOf(head, head.parked), ports);
    return false;
  }
  if (head.slot !== undefined) {
    await prepare(head, head.slot, executionId, key, ports);
    return true;
  }
  for (let attempt = 0; attempt < 5; attempt++) {
    const root = head.root === undefined ? undefined : await ports.runs.head(head.root);
    const takes = root?.slot === undefined ? "owner" : "tree";
    try {
      await prepare(head, takes, executionId, key, ports);
      return true;
    } catch (error) {
      if (!(error instanceof Raced) || error.headChanged) throw error;
    }
    if (await park(head, takes, ports)) return false;
  }
  // Slots come and go too fast: the message is tried again.
  throw new Error(`run ${head.run_id} found neither a slot nor a place among those that wait for one`);
}

function prepare(head: RunHead, takes: SlotKind, executionId: string, key: string, ports: RunPorts): Promise<void> {
  const now = ports.now();
  const startBy = now + START_LEASE_SECONDS * 1000;
  return ports.runs.change(
    head,
    {
      to: "PENDING",
      takes,
      events: [{ type: "run_pending", data: { state: "PENDING", execution_id: executionId } }],
      set: { execution_id: executionId, key_hash: hashKey(key), state_since: now, beat_at: now },
      add: { executions: 1 },
      checkAt: { at: startBy, from: startBy, to: startBy + LATE_CHECK_MS },
    },
    now,
  );
}

async function start(
  runId: string,
  envelope: Envelope,
  ports: RunPorts & { readonly sandbox: Sandbox },
): Promise<void> {
  try {
    await ports.sandbox.start(envelope);
  } catch (error) {
    if (!(error instanceof StartDeferred)) throw error;
    await putBack(runId, envelope.execution_id, "the sandbox could not be started just now", ports);
  }
}

/** A start that did not come about: the run waits again and is offered once more, soon. */
export async function putBack(runId: string, executionId: string, why: string, ports: RunPorts): Promise<void> {
  const head = await ports.runs.head(runId);
  if (head?.state !== "PENDING" || head.execution_id !== executionId) return;
  const now = ports.now();
  try {
    await ports.runs.change(
      head,
      {
        to: "QUEUED",
        events: [{ type: "run_queued", data: { state: "QUEUED", detail: why } }],
        remove: EXECUTION_ATTRIBUTES,
        checkAt: now + DEFERRED_CHECK_MS,
      },
      now,
    );
  } catch (error) {
    // It began, or was cancelled, just now.
    if (error instanceof Raced) return;
    throw error;
  }
  await ports.queue.sendRun(runId, ownerOf(head)).catch(() => undefined);
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
