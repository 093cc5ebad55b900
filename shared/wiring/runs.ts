import { dynamoClient, s3Client, sqsClient, ssmClient } from "#shared/aws/clients.ts";
import { dynamoTable } from "#shared/aws/dynamo-table.ts";
import { s3FileStore } from "#shared/aws/s3-files.ts";
import { ssmSecretVault } from "#shared/aws/ssm-vault.ts";
import type { DispatchPorts } from "#shared/executions/dispatch-run.ts";
import type { PromptPorts } from "#shared/executions/resolve-prompt.ts";
import type { HttpPorts } from "#shared/http/endpoint.ts";
import { liveRates } from "#shared/limits/token-bucket.ts";
import { type Cursors, cursors } from "#shared/pagination/cursor.ts";
import { principalStore } from "#shared/principals/principal-store.ts";
import { type PassQueue, sqsPassQueue, sqsRunQueue } from "#shared/queue/run-queue.ts";
import type { RunPorts } from "#shared/runs/ports.ts";
import { runStore } from "#shared/runs/run-store.ts";
import type { Sandbox } from "#shared/sandbox/sandbox.ts";
import { listSetting, offeredSandboxes, setting, settingIfAny, signedUrlSeconds } from "#shared/settings.ts";
import { liveGithubApp } from "./github-app.ts";
import { liveSandbox, liveStops } from "./sandbox.ts";

/** The ports of runs on AWS; a function is given only the settings that its rights are for. */
export function livePorts(): RunPorts {
  const table = dynamoTable(dynamoClient(), setting("TABLE_NAME"));
  const now = Date.now;
  return {
    table,
    runs: runStore(table),
    files: s3FileStore(s3Client(), () => setting("BUCKET_NAME"), signedUrlSeconds(), now),
    queue: sqsRunQueue(sqsClient(), { runs: () => setting("RUNS_QUEUE_URL"), ends: () => setting("ENDS_QUEUE_URL") }),
    now,
    hasContainers: listSetting("SANDBOXES").includes("fargate"),
    baseUrl: setting("BASE_URL"),
    webUrl: settingIfAny("WEB_URL"),
  };
}

/** As `livePorts`, for endpoints. */
export function liveRuns(): RunPorts & HttpPorts & { readonly cursors: Cursors } {
  const ports = livePorts();
  const principals = principalStore(ports.table, ports.now);
  return {
    ...ports,
    principals,
    who: setting("PRINCIPALS").split(","),
    rates: liveRates(),
    cursors: cursors(ports.table),
  };
}

/** As `liveRuns`, for the one endpoint that hands out the values of secrets. */
export function livePrompts(): PromptPorts & HttpPorts {
  return { ...liveRuns(), vault: ssmSecretVault(ssmClient(), () => setting("SECRETS_PATH")), app: liveGithubApp() };
}

/** As `livePorts`, for those who start sandboxes. */
export function liveDispatch(): DispatchPorts {
  return {
    ...livePorts(),
    sandbox: liveSandbox(),
    offered: offeredSandboxes(),
    modelUrl: settingIfAny("MODEL_URL"),
  };
}

export type EndPorts = RunPorts & { readonly sandbox: Pick<Sandbox, "stop"> };

/** As `livePorts`, for those who see to what a run leaves behind. */
export const liveEnds = (): EndPorts => ({ ...livePorts(), sandbox: liveStops() });

export type ReaperPorts = RunPorts & { readonly passes: PassQueue };

/** As `livePorts`, for the reaper. */
export function liveReaper(): ReaperPorts {
  return { ...livePorts(), passes: sqsPassQueue(sqsClient(), () => setting("REAPER_QUEUE_URL")) };
}
