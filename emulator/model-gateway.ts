import { setTimeout as sleep } from "node:timers/promises";
import { emulateAws, parseFaults } from "#shared/aws/aws-emulation.ts";
import { DynamoClient } from "#shared/aws/dynamo-client.ts";
import { dynamoTable } from "#shared/aws/dynamo-table.ts";
import { compatibleServer } from "#shared/model-gateway/compatible-server.ts";
import { modelGateway } from "#shared/model-gateway/gateway.ts";
import { anthropic, type ModelProviders, openai } from "#shared/model-gateway/provider.ts";
import { principalStore } from "#shared/principals/principal-store.ts";
import { runStore } from "#shared/runs/run-store.ts";
import type { LocalModels } from "../server/host/models.ts";
import { clientSettings, type EmulatorAccess } from "./emulator-access.ts";
import { sendToQueue } from "./emulator-calls.ts";

/** The values of secrets are in the emulator, where this process has no right to read them. */
const NO_KEYS = { getAll: async () => new Map<string, string>() };

export type Fetch = (request: Request) => Promise<Response>;

/**
 * The model gateway of the local cloud, which is that of AWS on the emulator's table. It is here and not in the emulator, because
 * that one holds responses back until they are whole. `faults`: the faults to inject into its calls, in the format of
 * `RUNYARD_FAULTS`.
 */
export function localGateway(access: EmulatorAccess, tableName: string, models: LocalModels, faults?: string): Fetch {
  Object.assign(process.env, models.variables);
  const client = new DynamoClient(clientSettings(access));
  emulateAws(client, parseFaults({ RUNYARD_FAULTS: faults }), () => undefined);
  const table = dynamoTable(client, tableName);
  const send = (queue: string) => (runId: string) =>
    sendToQueue(access, queue, JSON.stringify({ v: 1, run_id: runId }));
  const serve = modelGateway({
    table,
    runs: runStore(table),
    queue: { sendRun: send("runyard-runs"), sendEnd: send("runyard-ends") },
    // The terminal shows what runs do, and not each call of theirs.
    log: () => undefined,
    now: Date.now,
    sleep: async (milliseconds) => void (await sleep(milliseconds)),
    principals: principalStore(table, Date.now),
    providers: createProviders(models),
    vault: NO_KEYS,
  });
  // The process lives on, so nothing waits for the calls that are still being settled.
  return (request) => serve(request);
}

function createProviders({ anthropicKey, openaiKey, compatible }: LocalModels): ModelProviders {
  const key = (value: string) => async () => value;
  return {
    ...(anthropicKey !== undefined && { anthropic: anthropic("https://api.anthropic.com", key(anthropicKey)) }),
    ...(openaiKey !== undefined && { openai: openai("https://api.openai.com/v1", key(openaiKey)) }),
    ...(compatible !== undefined && {
      compatible: compatibleServer(compatible.baseUrl, {
        key: compatible.key === undefined ? undefined : key(compatible.key),
        timeouts: { firstByteMs: compatible.timeoutMs },
      }),
    }),
  };
}
