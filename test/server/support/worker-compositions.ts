import { execFile } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { vi } from "vitest";
import { WebSocket } from "ws";
import { request } from "../../support/client.ts";
import { createTestControlPlane } from "../../support/control-plane.ts";
import { deliver } from "../../support/execution.ts";
import { createGateway, MODEL_SETTINGS } from "../../support/gateway.ts";
import { ModelStandIn } from "../../support/model-stand-in.ts";
import { reap } from "../../support/reaper.ts";
import { connectedWorker } from "../../support/worker.ts";
import type { useServers } from "./served.ts";

const ROOT = path.resolve(import.meta.dirname, "../../..");
/** The time of a single machine in which the execution of a claimed run must begin. */
const CLAIM_SECONDS = 10;

interface Frame {
  readonly type: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into frames of every shape.
  readonly data: any;
}

interface Connection {
  readonly frames: () => readonly Frame[];
  sendText(text: string): Promise<unknown>;
  close(): Promise<unknown>;
}

interface Reply {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
  readonly body: any;
}

interface RequestOptions {
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
}

/** A composition of the service, with two teams and a model that has a price. */
export interface Composition {
  readonly models: ModelStandIn;
  /** A model at $1.5 a million tokens of input, and $6 of output. */
  readonly model: string;
  /** A key of another team. */
  readonly strangersKey: string;
  call(method: string, path: string, options?: RequestOptions): Promise<Reply>;
  /** Calls the model as the execution with this key. Returns the status. */
  callModel(key: string, body: object): Promise<number>;
  /** Opens a connection as a worker of this id. */
  connect(workerId: string, key?: string): Promise<Connection>;
  /** Waits until a check passes. */
  until(check: () => unknown): Promise<void>;
  /** Lets the time pass in which the execution of a claimed run must begin. */
  passClaimLease(): Promise<void>;
  stop(): Promise<void>;
}

/** The functions of the deployment with the events of API Gateway's WebSocket API, and tables and queues in memory. */
export async function composeForAws(): Promise<Composition> {
  for (const [name, value] of Object.entries(MODEL_SETTINGS)) vi.stubEnv(name, value);
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
export async function composeSingleMachine(servers: ReturnType<typeof useServers>): Promise<Composition> {
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
  const me = await server.call("GET", "/agent/me");
  const team: string = me.body.teams[0].uid;
  const other = await server.call("POST", "/agent/teams", { name: "Strangers" });
  const createKey = async (teamUid: string): Promise<string> => {
    const headers = { "x-team-uid": teamUid };
    const identity = await server.call("POST", "/agent/identities", { name: "worker" }, headers);
    const path = `/agent/identities/${identity.body.uid}/keys`;
    const created = await server.call("POST", path, { name: "worker" }, headers);
    return created.body.key ?? created.body.api_key;
  };
  const ownKey = await createKey(team);
  const sockets: WebSocket[] = [];
  return {
    models,
    model: "compatible/test",
    strangersKey: await createKey(other.body.uid),
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
      const url = `${web_url.replace("http", "ws")}/socket?worker_id=${workerId}`;
      const socket = new WebSocket(url, { headers: { authorization: `Bearer ${key}` } });
      sockets.push(socket);
      const frames: Frame[] = [];
      socket.on("message", (data) => frames.push(JSON.parse(data.toString())));
      await once(socket, "open");
      return {
        frames: () => frames,
        sendText: async (text) => socket.send(text),
        async close() {
          const closed = once(socket, "close");
          socket.close();
          await closed;
        },
      };
    },
    until: async (check) => void (await vi.waitFor(check, { timeout: 90_000, interval: 20 })),
    async passClaimLease() {
      await sleep(CLAIM_SECONDS * 1000);
      const env = { PATH: process.env["PATH"], RUNYARD_STATE: directory };
      const args = ["local/invoke.ts", "reap-runs", "events/scheduler/reap-runs.json"];
      await promisify(execFile)(process.execPath, args, { cwd: ROOT, env });
    },
    async stop() {
      for (const socket of sockets) socket.terminate();
      await models[Symbol.asyncDispose]();
    },
  };
}
