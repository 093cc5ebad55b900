import { setTimeout as sleep } from "node:timers/promises";
import { vi } from "vitest";
import { wakeFunction } from "../../emulator/emulator-calls.ts";
import { bootstrapLocal } from "../../operate/bootstrap.ts";
import { type Composition, openWorkerSocket } from "../server/support/worker-service.ts";
import { client } from "../support/api-client.ts";
import { CLAIM_SECONDS, type CloudProcess } from "./cloud.ts";

/**
 * The deployment on the emulator, with the address of its WebSocket API. It has no models: the emulator cannot run the function of the
 * model gateway.
 */
export async function composeEmulator(cloud: CloudProcess): Promise<Composition> {
  const { call } = client(cloud);
  // Another user's team: with two teams of their own, callers would have to name one in each request.
  const stranger = { teamName: "Strangers", displayName: "Stranger", email: "stranger@example.com" };
  const { api_key: strangersKey } = await bootstrapLocal(cloud.emulator, "runyard", stranger);
  const url: string = (await call("GET", "/agent/connected-self-hosted-workers")).body.ws_url;
  const sockets: Awaited<ReturnType<typeof openWorkerSocket>>[] = [];
  return {
    strangersKey,
    call: (method, path, { key = cloud.apiKey, headers = {}, body } = {}) =>
      call(method, path, body, { authorization: `Bearer ${key}`, ...headers }),
    async connect(workerId, key = cloud.apiKey) {
      const socket = await openWorkerSocket(url, workerId, key);
      sockets.push(socket);
      return socket;
    },
    until: async (check) => void (await vi.waitFor(check, { timeout: 120_000, interval: 200 })),
    async passClaimLease() {
      await sleep(CLAIM_SECONDS * 1000);
      const event = { source: "aws.events", "detail-type": "Scheduled Event" };
      await wakeFunction(cloud.emulator, "runyard-reap-runs", event);
    },
    async stop() {
      for (const socket of sockets) socket.terminate();
    },
  };
}
