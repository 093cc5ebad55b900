import { once } from "node:events";
import { WebSocket } from "ws";
import type { ModelStandIn } from "../../support/model-stand-in.ts";

export interface Frame {
  readonly type: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read frames of every shape.
  readonly data: any;
}

export interface Connection {
  readonly frames: () => readonly Frame[];
  sendText(text: string): Promise<unknown>;
  close(): Promise<unknown>;
}

interface Reply {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests read responses of every shape.
  readonly body: any;
}

export interface RequestOptions {
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
}

/** A composition of the service, with two teams. */
export interface Composition {
  /** A key of another team. */
  readonly strangersKey: string;
  call(method: string, path: string, options?: RequestOptions): Promise<Reply>;
  /** Opens a connection as a worker of this id. */
  connect(workerId: string, key?: string): Promise<Connection>;
  /** Waits until a check passes. */
  until(check: () => unknown): Promise<void>;
  /** Advances past the time in which the execution of a claimed run must begin. */
  passClaimLease(): Promise<void>;
  stop(): Promise<void>;
}

/** A composition with a model that has a price. */
export interface CompositionWithModel extends Composition {
  readonly models: ModelStandIn;
  /** A model at $1.5 a million tokens of input, and $6 of output. */
  readonly model: string;
  /** Calls the model as the execution with this key. Returns the status. */
  callModel(key: string, body: object): Promise<number>;
}

/** Opens a connection to a running service as a worker of this id. */
export async function openWorkerSocket(url: string, workerId: string, key: string) {
  const socket = new WebSocket(`${url}?worker_id=${workerId}`, { headers: { authorization: `Bearer ${key}` } });
  const frames: Frame[] = [];
  socket.on("message", (data) => frames.push(JSON.parse(data.toString())));
  await once(socket, "open");
  return {
    frames: () => frames,
    sendText: async (text: string) => socket.send(text),
    async close() {
      const closed = once(socket, "close");
      socket.close();
      await closed;
    },
    terminate: () => socket.terminate(),
  };
}

type Call = (method: string, path: string, body?: object, headers?: Readonly<Record<string, string>>) => Promise<Reply>;

/** Creates keys for workers of a running service: of the caller's team, and of a new one. */
export async function createWorkerKeys(call: Call) {
  const me = await call("GET", "/agent/me");
  const team: string = me.body.teams[0].uid;
  const other = await call("POST", "/agent/teams", { name: "Strangers" });
  const createKey = async (teamUid: string): Promise<string> => {
    const headers = { "x-team-uid": teamUid };
    const identity = await call("POST", "/agent/identities", { name: "worker" }, headers);
    const created = await call("POST", `/agent/identities/${identity.body.uid}/keys`, { name: "worker" }, headers);
    return created.body.key ?? created.body.api_key;
  };
  return { team, ownKey: await createKey(team), strangersKey: await createKey(other.body.uid) };
}
