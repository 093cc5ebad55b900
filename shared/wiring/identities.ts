import { dynamoClient, sqsClient } from "#shared/aws/clients.ts";
import { dynamoTable } from "#shared/aws/dynamo-table.ts";
import type { HttpPorts } from "#shared/http/endpoint.ts";
import type { DeletionPorts } from "#shared/identities/delete-identity.ts";
import type { IdentityPorts } from "#shared/identities/ports.ts";
import { liveRates } from "#shared/limits/token-bucket.ts";
import { cursors } from "#shared/pagination/cursor.ts";
import { principalStore } from "#shared/principals/principal-store.ts";
import { sqsRunQueue } from "#shared/queue/run-queue.ts";
import { runStore } from "#shared/runs/run-store.ts";
import { scheduleStore } from "#shared/schedules/schedule-store.ts";
import { setting } from "#shared/settings.ts";

/** The ports of identities and their keys on AWS: the table and nothing else. */
export function liveIdentities(): IdentityPorts & HttpPorts {
  const ports = liveTable();
  return { ...ports, cursors: cursors(ports.table) };
}

/** What deleting an identity takes, since its runs and schedules are touched too. */
export function liveDeletion(): DeletionPorts & HttpPorts {
  const ports = liveTable();
  const { table } = ports;
  const queues = { runs: () => setting("RUNS_QUEUE_URL"), ends: () => setting("ENDS_QUEUE_URL") };
  return { ...ports, runs: runStore(table), queue: sqsRunQueue(sqsClient(), queues), schedules: scheduleStore(table) };
}

function liveTable(): Omit<IdentityPorts, "cursors"> & HttpPorts {
  const table = dynamoTable(dynamoClient(), setting("TABLE_NAME"));
  const now = Date.now;
  return {
    table,
    now,
    principals: principalStore(table, now),
    baseUrl: setting("BASE_URL"),
    who: setting("PRINCIPALS").split(","),
    rates: liveRates(),
  };
}
