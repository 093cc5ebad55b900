import type { EventPorts } from "#shared/conversations/live-output.ts";
import type { HttpPorts } from "#shared/http/endpoint.ts";
import { polledSignals } from "#shared/live/polled-signals.ts";
import type { Cursors } from "#shared/pagination/cursor.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { runStore } from "#shared/runs/run-store.ts";
import { listSetting, maxExecutions, sandboxUsdPerHour, setting, settingIfAny } from "#shared/settings.ts";
import { createFiles, createRunQueue } from "#shared/wiring/adapters.ts";
import { createLiveTails, createTable, createTablePorts, receiverRules } from "./common.ts";

/** The ports of runs on AWS. */
export function createRunPorts(): RunPorts {
  const table = createTable();
  return {
    table,
    runs: runStore(table),
    files: createFiles(),
    queue: createRunQueue(),
    now: Date.now,
    hasContainers: hasContainers(),
    networkLimits: () => [],
    sandboxUsdPerHour: sandboxUsdPerHour(),
    maxExecutions: maxExecutions(),
    baseUrl: setting("BASE_URL"),
    webUrl: settingIfAny("WEB_URL"),
  };
}

/** As `createRunPorts`, for endpoints. API Gateway does not stream responses. */
export function createRunEndpointPorts(): EventPorts & HttpPorts & { readonly cursors: Cursors } {
  const ports = createTablePorts();
  return {
    ...ports,
    runs: runStore(ports.table),
    files: createFiles(),
    queue: createRunQueue(),
    hasContainers: hasContainers(),
    networkLimits: () => [],
    sandboxUsdPerHour: sandboxUsdPerHour(),
    webUrl: settingIfAny("WEB_URL"),
    webhooks: receiverRules(),
    live: createLiveTails(),
    signals: polledSignals,
    streamSeconds: undefined,
  };
}

/** Whether the deployment runs images of environments. */
export const hasContainers = (): boolean => listSetting("SANDBOXES").includes("fargate");
