import { dynamoClient } from "#shared/aws/clients.ts";
import { dynamoTable } from "#shared/aws/dynamo-table.ts";
import { auditedTable } from "#shared/http/audit/trail.ts";
import type { HttpPorts } from "#shared/http/endpoint.ts";
import { configuredRateLimits } from "#shared/limits/token-bucket.ts";
import { liveTailStore } from "#shared/live/live-tail-store.ts";
import type { LiveTails } from "#shared/live/live-tails.ts";
import type { ReceiverRules } from "#shared/notifications/receiver-url.ts";
import { type Cursors, cursors } from "#shared/pagination/cursor.ts";
import { principalStore } from "#shared/principals/principal-store.ts";
import { setting, settingIfAny } from "#shared/settings.ts";
import type { Table } from "#shared/table/table.ts";

/** The ports of an endpoint whose rules need the table and nothing else. */
export interface TablePorts extends HttpPorts {
  readonly table: Table;
  readonly now: () => number;
  readonly cursors: Cursors;
}

/** The DynamoDB table of the deployment. */
export const createTable = (): Table => auditedTable(dynamoTable(dynamoClient(), setting("TABLE_NAME")), Date.now);

/** The ports of an endpoint: the table, the principals in it, and the route's own settings. */
export function createTablePorts(): TablePorts {
  const table = createTable();
  const now = Date.now;
  return {
    table,
    now,
    cursors: cursors(table),
    principals: principalStore(table, now),
    baseUrl: setting("BASE_URL"),
    who: setting("PRINCIPALS").split(","),
    scope: setting("SCOPE"),
    rates: configuredRateLimits(),
    webUrl: settingIfAny("WEB_URL"),
  };
}

/** The table of live output. Only functions with a right on it have its name. */
export function createLiveTails(): LiveTails {
  let tails: LiveTails | undefined;
  const store = (): LiveTails => {
    tails ??= liveTailStore(dynamoTable(dynamoClient(), setting("LIVE_TABLE_NAME")), Date.now);
    return tails;
  };
  return {
    append: (...frames) => store().append(...frames),
    finish: (...ids) => store().finish(...ids),
    read: (runId) => store().read(runId),
    clear: (runId) => store().clear(runId),
  };
}

/** Which URLs may receive events of runs. */
export const receiverRules = (): ReceiverRules => ({
  isAvailable: settingIfAny("WEBHOOKS") !== "unavailable",
  allowsPrivate: false,
});
