import { setTimeout as sleep } from "node:timers/promises";
import * as v from "valibot";
import { bedrock, bedrockClient } from "#shared/aws/bedrock-provider.ts";
import { ssmClient } from "#shared/aws/clients.ts";
import { ssmParameter } from "#shared/aws/ssm-parameter.ts";
import { logLine } from "#shared/log/log.ts";
import { compatibleServer } from "#shared/model-gateway/compatible-server.ts";
import { createProvider } from "#shared/model-gateway/create-provider.ts";
import type { GatewayPorts } from "#shared/model-gateway/gateway.ts";
import type { ModelProviders } from "#shared/model-gateway/provider.ts";
import { principalStore } from "#shared/principals/principal-store.ts";
import { runStore } from "#shared/runs/run-store.ts";
import { compatibleTimeoutMs, listSetting, setting, settingIfAny } from "#shared/settings.ts";
import { DeployedProvider } from "#shared/wire/providers/provider-settings.ts";
import { createRunQueue } from "#shared/wiring/adapters.ts";
import { createTable } from "./common.ts";
import { createVault } from "./vault.ts";

/** The ports of the model gateway. */
export function createGatewayPorts(): GatewayPorts {
  const table = createTable();
  const now = Date.now;
  return {
    table,
    runs: runStore(table),
    queue: createRunQueue(),
    now,
    sleep: async (milliseconds) => void (await sleep(milliseconds)),
    log: logLine,
    principals: principalStore(table, now),
    providers: createProviders(now),
    vault: createVault(),
  };
}

/** Providers with names of their own, without their models. */
const Connections = v.pipe(v.string(), v.parseJson(), v.array(DeployedProvider));

/** The providers that the deployment is configured for, each with its key from where the settings say. */
function createProviders(now: () => number): ModelProviders {
  const configured = new Set(listSetting("MODEL_PROVIDERS"));
  const key = (name: string) => ssmParameter(ssmClient(), name, now);
  const compatibleKey = settingIfAny("COMPATIBLE_KEY_PARAMETER");
  const named = v.parse(Connections, settingIfAny("PROVIDER_CONNECTIONS") ?? "[]");
  return {
    ...Object.fromEntries(
      named.map((provider) => [provider.name, createProvider(provider, provider.key && key(provider.key.parameter))]),
    ),
    ...(configured.has("anthropic") && {
      anthropic: createProvider({ kind: "anthropic" }, key(setting("ANTHROPIC_KEY_PARAMETER"))),
    }),
    ...(configured.has("openai") && {
      openai: createProvider({ kind: "openai" }, key(setting("OPENAI_KEY_PARAMETER"))),
    }),
    ...(configured.has("bedrock") && { bedrock: bedrock(bedrockClient()) }),
    ...(configured.has("compatible") && {
      compatible: compatibleServer(setting("COMPATIBLE_BASE_URL"), {
        key: compatibleKey === undefined ? undefined : key(compatibleKey),
        timeouts: { firstByteMs: compatibleTimeoutMs() },
      }),
    }),
  };
}
