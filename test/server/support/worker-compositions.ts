import { execFile } from "node:child_process";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { vi } from "vitest";
import { request } from "../../support/client.ts";
import { createTestControlPlane } from "../../support/control-plane.ts";
import { deliver } from "../../support/execution.ts";
import { createGateway, stubModelSettings } from "../../support/gateway.ts";
import { ModelStandIn } from "../../support/model-stand-in.ts";
import { reap } from "../../support/reaper.ts";
import { connectedWorker } from "../../support/worker.ts";
import type { useServers } from "./served.ts";
import { type CompositionWithModel, createWorkerKeys, openWorkerSocket } from "./worker-service.ts";

const ROOT = path.resolve(import.meta.dirname, "../../..");
/** The time of a single machine in which the execution of a claimed run must begin. */
const CLAIM_SECONDS = 10;

/** The functions of the deployment with the events of API Gateway's WebSocket API, and tables and queues in memory. */
export async function composeForAws(): Promise<CompositionWithModel> {
  stubModelSettings();
  const plane = await createTestControlPlane();
  const models = await ModelStandIn.start();
  const gateway = createGateway(plane, models);
  const until = async (check: () => unknown) => {
    await deliver(plane);
    await check();
  };
  return {
    models,
    model: "openai/gpt-5.4",
    strangersKey: plane.otherKey,
    call: (method, path, options = {}) => request(plane, method, path, { key: plane.key, ...options }),
    callModel: async (key, body) => (await gateway.chat(key, body)).status,
    connect: (workerId, key) => connectedWorker(plane, workerId, { key: key ?? plane.key }),
    until,
    async passClaimLease() {
      plane.clock.now += 61_000;
      await reap(plane);
      await deliver(plane);
    },
    async stop() {
      vi.unstubAllEnvs();
      await models[Symbol.asyncDispose]();
    },
  };
}

/** A single machine with its socket. */
export async function composeSingleMachine(servers: ReturnType<typeof useServers>): Promise<CompositionWithModel> {
  const models = await ModelStandIn.start();
  const directory = servers.directory();
  const server = await servers.start(directory, {
    environment: {
      RUNYARD_COMPATIBLE_BASE_URL: models.openaiUrl,
      RUNYARD_COMPATIBLE_MODELS: "test",
      RUNYARD_MODEL_PRICES: "compatible/test=1.5/6",
      WORKER_CLAIM_SECONDS: String(CLAIM_SECONDS),
    },
  });
  const { base_url, web_url, api_key } = server.state;
  const { team, ownKey, strangersKey } = await createWorkerKeys(server.call);
  const sockets: Awaited<ReturnType<typeof openWorkerSocket>>[] = [];
  return {
    models,
    model: "compatible/test",
    strangersKey,
    call: (method, path, { key = api_key, headers = {}, body } = {}) =>
      server.call(method, path, body, {
        authorization: `Bearer ${key}`,
        ...(key === api_key && { "x-team-uid": team }),
        ...headers,
      }),
    async callModel(key, body) {
      const response = await fetch(`${base_url}/model/openai/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      await response.text();
      return response.status;
    },
    async connect(workerId, key = ownKey) {
      const socket = await openWorkerSocket(`${web_url.replace("http", "ws")}/socket`, workerId, key);
      sockets.push(socket);
      return socket;
    },
    until: async (check) => void (await vi.waitFor(check, { timeout: 90_000, interval: 20 })),
    async passClaimLease() {
      await sleep(CLAIM_SECONDS * 1000);
      const env = { PATH: process.env["PATH"], RUNYARD_STATE: directory };
      const args = ["emulator/invoke.ts", "reap-runs", "events/scheduler/reap-runs.json"];
      await promisify(execFile)(process.execPath, args, { cwd: ROOT, env });
    },
    async stop() {
      for (const socket of sockets) socket.terminate();
      await models[Symbol.asyncDispose]();
    },
  };
}
