import * as v from "valibot";
import type { HttpPorts } from "#shared/http/endpoint.ts";
import { runStore } from "#shared/runs/run-store.ts";
import { setting, settingIfAny } from "#shared/settings.ts";
import type { ReplyPorts } from "#shared/triggers/replies/attempt-replies.ts";
import { AttemptResult } from "#shared/webhooks/send-webhooks.ts";
import type { AttemptPorts, DeliveryPlanPorts, WebhookReadPorts } from "#shared/webhooks/webhook-ports.ts";
import { createFiles, createFunctionCaller } from "#shared/wiring/adapters.ts";
import { createTable, createTablePorts, receiverRules } from "./common.ts";
import { createOwnerOf } from "./github.ts";
import { createSystems } from "./system-calls.ts";

/** Milliseconds that a call of the sending function may take, and the request for an attempt. */
const SENDING_MS = 40_000;
const REQUEST_MS = 5_000;

/** The ports of the endpoints of webhooks that need no signing secret. */
export const createWebhookReadPorts = (): WebhookReadPorts & HttpPorts => ({
  ...createTablePorts(),
  webhooks: receiverRules(),
});

/** The ports of the function that turns events of runs into deliveries. */
export function createPlanPorts(): DeliveryPlanPorts {
  const callFunction = createFunctionCaller();
  return {
    table: createTable(),
    now: Date.now,
    webUrl: settingIfAny("WEB_URL"),
    attempts: {
      async request(deliveries) {
        const options = { timeoutMs: REQUEST_MS, waits: false };
        await callFunction(setting("WEBHOOK_ATTEMPTS_FUNCTION_NAME"), { v: 1, deliveries }, options);
      },
    },
  };
}

/** The ports of the function that attempts deliveries. It sends no request to a receiver itself. */
export function createAttemptPorts(): AttemptPorts & ReplyPorts {
  const callFunction = createFunctionCaller();
  const table = createTable();
  return {
    table,
    runs: runStore(table),
    files: createFiles(),
    webUrl: settingIfAny("WEB_URL"),
    systems: createSystems(),
    ownerOf: createOwnerOf(table),
    now: Date.now,
    sender: {
      async send(requests) {
        const event = { v: 1, requests };
        const results = await callFunction(setting("SEND_WEBHOOKS_FUNCTION_NAME"), event, { timeoutMs: SENDING_MS });
        return v.parse(v.array(AttemptResult), results);
      },
    },
  };
}
