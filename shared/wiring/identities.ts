import type { HttpPorts } from "#shared/http/endpoint.ts";
import type { DeletionPorts } from "#shared/identities/delete-identity.ts";
import { runStore } from "#shared/runs/run-store.ts";
import { scheduleStore } from "#shared/schedules/schedule-store.ts";
import { createRunQueue } from "#shared/wiring/adapters.ts";
import { createTablePorts } from "./common.ts";

/** The ports of the endpoint that deletes an identity, which ends its runs and pauses its schedules. */
export function createDeletionPorts(): DeletionPorts & HttpPorts {
  const ports = createTablePorts();
  const { table } = ports;
  return { ...ports, runs: runStore(table), queue: createRunQueue(), schedules: scheduleStore(table) };
}
