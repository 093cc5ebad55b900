import { RunyardError } from "#shared/errors.ts";
import { RUN_CAPS } from "#shared/records/run.ts";
import type { ExecutingHead } from "#shared/records/run-head.ts";
import { changeExecution } from "#shared/runs/change-run.ts";
import type { RunPorts } from "#shared/runs/ports.ts";
import { RunChangedError } from "#shared/runs/run-store.ts";
import { keys } from "#shared/table/keys.ts";
import type { ClientEvent } from "#shared/wire/event.ts";

/** Puts an execution's event into the timeline. Its time is the service's; what the sandbox measured stands in the payload. */
export async function storeClientEvent(first: ExecutingHead, event: ClientEvent, ports: RunPorts): Promise<void> {
  const { latency_ms, is_error, detail, start_ts, finish_ts } = event.payload ?? {};
  const data = {
    ...(latency_ms === undefined ? {} : { duration_ms: Math.round(latency_ms) }),
    ...(is_error === undefined ? {} : { is_error }),
    ...(detail === undefined ? {} : { detail }),
    ...(start_ts === undefined ? {} : { start_ts }),
    ...(finish_ts === undefined ? {} : { finish_ts }),
  };
  const marker = { ...keys.clientEvent(first.run_id, event.event_uuid), v: 1 };
  try {
    await changeExecution(first, ports, (head) => {
      if (head.client_events >= RUN_CAPS.clientEvents) {
        throw new RunyardError("resource_unavailable", {
          status: 429,
          detail: `a run takes ${RUN_CAPS.clientEvents} events of its executions`,
        });
      }
      return {
        change: {
          events: [{ type: event.event_name, data, uuid: event.event_uuid }],
          set: {
            client_events: head.client_events + 1,
            heartbeat_at: ports.now(),
          },
          also: [{ kind: "put", item: marker, if: { pk: { exists: false } } }],
        },
        result: undefined,
      };
    });
  } catch (error) {
    // The head stood still and the marker was there: the event came before.
    if (!(error instanceof RunChangedError)) throw error;
  }
}
