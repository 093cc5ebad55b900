import { RunyardError } from "#shared/errors.ts";
import { RUN_CAPS } from "#shared/records/run.ts";
import type { ExecutingHead } from "#shared/records/run-head.ts";
import { changeExecution } from "#shared/runs/change-run.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { RunChangedError } from "#shared/runs/run-store.ts";
import type { TimelineEntry } from "#shared/runs/transition.ts";
import type { ClientEvent } from "#shared/wire/event.ts";
import { isClientEventStored, markClientEvent } from "./event-marker-store.ts";

/** Adds an event of an execution to the timeline, with the time of the service; the payload has the times that the sandbox measured. */
export async function storeClientEvent(first: ExecutingHead, event: ClientEvent, ports: RunPorts): Promise<void> {
  const isFull = first.client_events >= RUN_CAPS.clientEvents;
  if (isFull && (await isClientEventStored(first.run_id, event.event_uuid, ports.table))) return;
  const { latency_ms, is_error, detail, start_ts, finish_ts, ...rest } = event.payload ?? {};
  const data = {
    ...(latency_ms === undefined ? {} : { duration_ms: Math.round(latency_ms) }),
    ...(is_error === undefined ? {} : { is_error }),
    ...(detail === undefined ? {} : { detail }),
    ...(start_ts === undefined ? {} : { start_ts }),
    ...(finish_ts === undefined ? {} : { finish_ts }),
    ...rest,
  };
  const { event_name: type, event_uuid: uuid } = event;
  await addClientEvent(first, { id: uuid, entry: { type, data, uuid } }, ports);
}

interface NewClientEvent {
  /** Of entries with the same id, one is added. */
  readonly id: string;
  readonly entry: TimelineEntry;
  readonly refusal?: Refusal;
}

/** How a request at the limit is refused, where it differs. */
interface Refusal {
  readonly detail: string;
  readonly retryable: boolean;
}

/**
 * Adds an entry of an execution to the timeline, and counts it as a client event.
 * @throws RunyardError 429 with `refusal` if the run has as many as it may have
 */
export async function addClientEvent(
  first: ExecutingHead,
  { id, entry, refusal }: NewClientEvent,
  ports: RunPorts,
): Promise<void> {
  try {
    await changeExecution(first, ports, (head) => ({
      change: {
        events: [entry],
        set: countClientEvent(head, ports.now(), refusal),
        also: { clientEvent: markClientEvent(first.run_id, id) },
      },
      result: undefined,
    }));
  } catch (error) {
    // The head is unchanged, so the marker exists: the event is stored already.
    if (!(error instanceof RunChangedError)) throw error;
  }
}

/**
 * Returns the members of a head that count one more client event.
 * @throws RunyardError 429 with `refusal` if the run has as many as it may have
 */
export function countClientEvent({ client_events }: ExecutingHead, now: number, refusal?: Refusal) {
  if (client_events >= RUN_CAPS.clientEvents) {
    const detail = `a run stores at most ${RUN_CAPS.clientEvents} client events`;
    throw new RunyardError("resource_unavailable", { status: 429, detail, ...refusal });
  }
  return { client_events: client_events + 1, heartbeat_at: now };
}
