import { randomId } from "#shared/ids.ts";
import { logLine } from "#shared/log/log.ts";
import { hashKey, newRunKey } from "#shared/principals/api-key.ts";
import { hasIdentity } from "#shared/records/identity.ts";
import {
  executorOf,
  isLocal,
  parseOwner,
  providerOf,
  type RunHead,
  type SlotKind,
  startLeaseMs,
  toSandboxAttribute,
} from "#shared/records/run-head.ts";
import { enterDeploymentQueue, findPlace, grantExecutions } from "#shared/runs/capacity/deployment-queue.ts";
import { needsPlace } from "#shared/runs/capacity/execution-count-store.ts";
import type { SlotChoice } from "#shared/runs/capacity/slot-store.ts";
import { type Place, toWaitQueue } from "#shared/runs/capacity/slots.ts";
import { type AnnounceWaiting, dequeueNext, type Entered, enterWaitQueue } from "#shared/runs/capacity/wait-queue.ts";
import { failWaitingRun } from "#shared/runs/end-run.ts";
import { findImageProblem } from "#shared/runs/placement.ts";
import { deferStart, returnToQueue } from "#shared/runs/return-to-queue.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { RunChangedError } from "#shared/runs/run-store.ts";
import { toTransitionWrites } from "#shared/runs/transition-store.ts";
import { chooseSandbox } from "#shared/sandbox/choose-sandbox.ts";
import { isStoppable, isWorker, PROVIDERS, startSeconds } from "#shared/sandbox/providers.ts";
import { type Sandbox, type SandboxChoice, StartDeferred } from "#shared/sandbox/sandbox.ts";
import type { SandboxProvider } from "#shared/wire/executions/sandboxes.ts";
import type { Envelope } from "#shared/wire/harness.ts";
import { offerRun, takeBackOffer } from "#shared/workers/offer-run.ts";
import type { OfferPorts } from "#shared/workers/worker-ports.ts";
import { recordSandbox } from "./sandbox-stops.ts";

/** Milliseconds by which the check of a start may be late if a check is planned already. */
const LATE_CHECK_MS = 15_000;

/** What starting an execution needs. */
export interface DispatchPorts extends OfferPorts {
  readonly sandbox: Pick<Sandbox, "start">;
  /** The sandbox providers of this deployment, the default one first. */
  readonly offered: readonly SandboxProvider[];
}

/**
 * Starts the execution of a waiting run: takes a slot of its owner and creates a key in one transaction, then starts the
 * sandbox. A repeated message finds the run PENDING without a harness and starts it again with a new key, so that at most one
 * of the two sandboxes can authenticate.
 */
export async function startExecution(runId: string, ports: DispatchPorts): Promise<void> {
  const head = await ports.runs.head(runId);
  if (head === undefined || isLocal(head)) return;
  // The execution of an idle run waits for a slot, to carry out a follow-up.
  if (head.state === "INPROGRESS" && head.waiting !== undefined)
    return dequeueNext(toWaitQueue(head, head.waiting), ports);
  if (head.state !== "QUEUED" && head.state !== "PENDING") return;
  if (head.state === "QUEUED" && (await lacksIdentity(head, ports))) {
    return failWaitingRun(runId, "not_authorized", "the identity that the run was created for is deleted", ports);
  }
  if (head.worker_host !== undefined) return dispatchToWorker(head, head.worker_host, ports);
  // The deployment could execute it when the run was created or last executed.
  const imageProblem =
    head.state === "QUEUED" && head.own_image === true ? findImageProblem(undefined, ports) : undefined;
  if (imageProblem !== undefined) return failWaitingRun(runId, "operation_not_supported", imageProblem, ports);
  const now = ports.now();
  const key = newRunKey(runId);
  const restarts = head.state === "PENDING";
  const provider = providerOf(head);
  if (restarts && (head.instance_id !== undefined || now - head.state_since < startLeaseMs(head))) return;
  // A provider that identifies starts by their execution rejects a second one with another key.
  if (restarts && isStoppable(provider)) {
    return returnToQueue(runId, head.execution_id, "the sandbox did not start in time", ports);
  }
  const executionId = restarts ? head.execution_id : randomId();
  const choice = restarts && !isWorker(provider) ? { provider } : await chooseFor(head, ports);
  try {
    // A new start has the full time limit, like the first one.
    const restart = { key_hash: hashKey(key), state_since: now, heartbeat_at: now };
    if (restarts) await ports.runs.change(head, { events: [], set: restart }, now);
    else if (!(await takeSlot(head, { executionId, key, choice }, ports))) return;
  } catch (error) {
    // Another dispatcher has started it.
    if (error instanceof RunChangedError) return;
    throw error;
  }
  await startSandbox(runId, createEnvelope(runId, { executionId, key, choice }, ports), choice, ports);
}

/** Lets a run wait for its worker and offers the runs that wait, the oldest first; takes back what was not claimed in time. */
async function dispatchToWorker(head: RunHead, workerHost: string, ports: DispatchPorts): Promise<void> {
  if (head.state === "PENDING") {
    if (ports.now() - head.state_since >= startLeaseMs(head)) await takeBackOffer(head, ports);
    return;
  }
  await offerRun(head, workerHost, ports);
}

/** Chooses the sandbox of the run's next execution. Reads the run's body only if its environment has an image. */
async function chooseFor(head: RunHead, { offered, runs }: DispatchPorts): Promise<SandboxChoice> {
  const dockerImage = head.own_image === true ? (await runs.body(head.run_id)).docker_image : undefined;
  return chooseSandbox({ dockerImage, isLong: head.sliced === true }, offered);
}

/** True if the identity of the run is deleted, and the deletion has missed the run. */
async function lacksIdentity(head: RunHead, { table }: RunPorts): Promise<boolean> {
  if (head.p.as_identity !== true) return false;
  return !(await hasIdentity(parseOwner(head).uid, executorOf(head.p), table));
}

/** Moves the run to PENDING with a slot. If none is free, or the deployment is full, the run waits, and the result is false. */
async function takeSlot(head: RunHead, start: Start, ports: DispatchPorts): Promise<boolean> {
  // A function that freed capacity may have stopped before it started the next run.
  if (head.waiting !== undefined) {
    await dequeueNext(toWaitQueue(head, head.waiting), ports);
    return false;
  }
  if (head.deployment_entry !== undefined) {
    await grantExecutions(ports.maxExecutions, ports);
    return false;
  }
  let part: number | undefined;
  for (let attempt = 0; attempt < 5; attempt++) {
    const kind = head.slot ?? (await chooseSlot(head, ports));
    const place = await findNeededPlace(head, ports);
    if (place === "full") {
      const entered = await waitForDeployment(head, { kind, part }, ports);
      if (entered === "waits") return logWait(head, "deployment");
      part = entered.part;
      continue;
    }
    try {
      await prepare(head, { kind, part, place }, start, ports);
      return true;
    } catch (error) {
      if (!(error instanceof RunChangedError) || error.headChanged) throw error;
      // Another run took the place.
      if (error.failedOnly("executions")) continue;
      if (head.slot !== undefined) throw error;
      const entered = await enterWaitQueue(head, kind, announceWaiting(ports), ports);
      if (entered === "waits") return logWait(head, kind);
      part = entered.part;
    }
  }
  // The slots change too fast: the message is retried.
  throw new Error(`run ${head.run_id} got neither a slot nor a place in the wait queue`);
}

/** Logs which capacity a run waits for, and whose run it is: the dashboard shows who waits. */
function logWait(head: RunHead, capacity: "deployment" | SlotKind): false {
  logLine("info", "run waits", { run_id: head.run_id, owner_uid: parseOwner(head).uid, capacity });
  return false;
}

/** Finds a place among the executions of the deployment, where it limits them and the run has none. */
async function findNeededPlace(head: RunHead, ports: DispatchPorts): Promise<Place | "full" | undefined> {
  if (ports.maxExecutions === undefined || !needsPlace(head)) return undefined;
  return (await findPlace(head.run_id, ports.maxExecutions, ports)) ?? "full";
}

/** Adds the run to the queue of the deployment, or to that of its slot if there is none. */
async function waitForDeployment(head: RunHead, slot: SlotChoice, ports: DispatchPorts): Promise<Entered> {
  const announce = announceWaiting(ports);
  if (await enterDeploymentQueue(head, slot, ports.maxExecutions ?? 0, announce, ports)) return "waits";
  return head.slot === undefined ? enterWaitQueue(head, slot.kind, announce, ports) : {};
}

async function chooseSlot(head: RunHead, ports: DispatchPorts): Promise<SlotKind> {
  const root = head.root === undefined ? undefined : await ports.runs.head(head.root);
  return root?.slot === undefined ? "owner" : "tree";
}

/** Reports that a run waits for capacity, with its position in the queue at that time. */
const announceWaiting =
  (ports: RunPorts): AnnounceWaiting =>
  (head, { position, ...change }) => {
    const detail = `waiting for capacity, position ${position} in the queue`;
    const events = [{ type: "run_waiting", data: { position, detail } }] as const;
    return toTransitionWrites(head, { ...change, events }, ports.now());
  };

interface Start {
  readonly executionId: string;
  readonly key: string;
  readonly choice: SandboxChoice;
}

function prepare(
  head: RunHead,
  { kind, part, place }: SlotChoice & { readonly place: Place | undefined },
  { executionId, key, choice }: Start,
  ports: DispatchPorts,
): Promise<void> {
  const now = ports.now();
  const { provider } = choice;
  const startBy = now + startSeconds(provider) * 1000;
  return ports.runs.change(
    head,
    {
      to: "PENDING",
      takes: kind,
      part,
      place,
      events: [
        { type: "run_pending", data: { state: "PENDING", execution_id: executionId, ...toEventData(provider) } },
      ],
      set: {
        execution_id: executionId,
        key_hash: hashKey(key),
        state_since: now,
        heartbeat_at: now,
        ...toSandboxAttribute(provider),
      },
      add: { executions: 1 },
      checkAt: { at: startBy, from: startBy, to: startBy + LATE_CHECK_MS },
    },
    now,
  );
}

const toEventData = (provider: SandboxProvider) => (PROVIDERS[provider].isNamed ? { sandbox: provider } : {});

async function startSandbox(
  runId: string,
  envelope: Envelope,
  choice: SandboxChoice,
  ports: DispatchPorts,
): Promise<void> {
  const executionId = envelope.execution_id;
  let handle: string | undefined;
  try {
    handle = await ports.sandbox.start(envelope, choice);
  } catch (error) {
    const hasFailed = !(error instanceof StartDeferred);
    if (hasFailed) logLine("error", "start failed", { run_id: runId, startFailed: true, error });
    return deferStart(runId, executionId, { hasFailed }, ports);
  }
  await recordSandbox(runId, { provider: choice.provider, executionId, handle }, ports);
}

function createEnvelope(runId: string, { executionId, key, choice: { provider } }: Start, ports: RunPorts): Envelope {
  return {
    version: 1,
    base_url: ports.baseUrl,
    model_url: ports.modelUrl ?? `${ports.baseUrl}/model`,
    run_id: runId,
    execution_id: executionId,
    key,
    ...(PROVIDERS[provider].lasts ? { waits: true as const } : {}),
  };
}
