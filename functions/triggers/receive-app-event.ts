import * as v from "valibot";
import { type PublicPorts, rawEndpoint } from "#shared/http/endpoint.ts";
import { deliverAppEvent } from "#shared/triggers/receive-app-event.ts";
import type { AppIngressPorts } from "#shared/triggers/trigger-ports.ts";
import { ReceivedDelivery } from "#shared/wire/triggers/delivery.ts";

/**
 * POST /hooks/github-app: accepts an event of the deployment's GitHub App. The triggers of the kind `github` of the team that
 * has claimed the installation get a delivery each. GitHub signs the request with the secret of the App's webhook.
 */
export const receiveAppEvent = rawEndpoint({
  request: { path: v.object({}) },
  reply: { 200: ReceivedDelivery },
  errors: ["authentication_required"],
  async run({ body, header }, ports: AppIngressPorts & PublicPorts) {
    return { status: 200, body: await deliverAppEvent({ body, header }, ports) };
  },
});
