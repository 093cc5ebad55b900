import { RunyardError } from "#shared/errors.ts";
import { RUN_CAPS } from "#shared/records/run.ts";
import type { ExecutingHead } from "#shared/records/run-head.ts";
import { changeExecution } from "#shared/runs/change-run.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { RunChangedError } from "#shared/runs/run-store.ts";
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
  try {
    await changeExecution(first, ports, (head) => {
      if (head.client_events >= RUN_CAPS.clientEvents) {
        throw new RunyardError("resource_unavailable", {
          status: 429,
          detail: `a run stores at most ${RUN_CAPS.clientEvents} client events`,
        });
      }
      return {
        change: {
          events: [{ type: event.event_name, data, uuid: event.event_uuid }],
          set: {
            client_events: head.client_events + 1,
            heartbeat_at: ports.now(),
          },
          also: { clientEvent: markClientEvent(first.run_id, event.event_uuid) },
        },
        result: undefined,
      };
    });
  } catch (error) {
    // The head is unchanged, so the marker exists: the event is stored already.
    if (!(error instanceof RunChangedError)) throw error;
  }
}
