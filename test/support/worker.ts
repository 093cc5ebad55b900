import { randomUUID } from "node:crypto";
import { connectWorker } from "#functions/workers/connect-worker.ts";
import { disconnectWorker } from "#functions/workers/disconnect-worker.ts";
import { receiveFrame } from "#functions/workers/receive-frame.ts";
import { eventSources } from "#infra/event-sources.ts";
import type { Envelope } from "#shared/wire/harness.ts";
import type { TestControlPlane } from "./control-plane.ts";
import { createHarness } from "./execution.ts";
import { withRights } from "./rights.ts";

interface ConnectOptions {
  readonly key?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Opens a connection as API Gateway does, and returns its status. */
export async function openSocket(
  plane: TestControlPlane,
  workerId: string | undefined,
  { key = plane.key, headers = {} }: ConnectOptions = {},
) {
  const connectionId = `connection-${randomUUID().slice(0, 8)}`;
  const event = {
    requestContext: { connectionId, eventType: "CONNECT" },
    headers: { ...(key === "" ? {} : { Authorization: `Bearer ${key}` }), ...headers },
    ...(workerId === undefined ? {} : { queryStringParameters: { worker_id: workerId } }),
  };
  plane.received.set(connectionId, []);
  const { file, rights } = eventSources.connectWorker;
  const {
    statusCode,
    headers: given,
    body,
  } = await withRights(file, rights, () => connectWorker.handle(event, plane.ports));
  if (statusCode !== 200) plane.received.delete(connectionId);
  return { connectionId, statusCode, headers: given, body };
}

/** A stand-in for a worker that follows the protocol. */
export async function connectedWorker(plane: TestControlPlane, workerId = "rack-7", options: ConnectOptions = {}) {
  const { connectionId, statusCode, body } = await openSocket(plane, workerId, options);
  if (statusCode !== 200) throw new Error(`the worker was refused: ${body}`);
  const sendText = (text: string, isBase64Encoded = false) => {
    const event = { requestContext: { connectionId, eventType: "MESSAGE" }, body: text, isBase64Encoded };
    const { file, rights } = eventSources.receiveFrame;
    return withRights(file, rights, () => receiveFrame.handle(event, plane.ports));
  };
  const send = (type: string, data: Record<string, unknown>) => sendText(JSON.stringify({ type, data }));
  // biome-ignore lint/suspicious/noExplicitAny: tests look into frames of every shape.
  const frames = (): any[] => plane.received.get(connectionId) ?? [];
  const assignments = () => frames().filter(({ type }) => type === "task_assignment");
  return {
    connectionId,
    workerId,
    frames,
    assignments,
    cancellations: () => frames().filter(({ type }) => type === "task_cancellation"),
    sendText,
    send,
    claim: (task_id: string) => send("task_claimed", { task_id, worker_id: workerId }),
    /** The harness that the worker starts for the last assignment. */
    harness: (assignment = assignments().at(-1)) => {
      const { task_id, env_vars } = assignment.data;
      const envelope: Envelope = {
        version: 1,
        base_url: plane.ports.baseUrl,
        model_url: plane.ports.baseUrl,
        run_id: task_id,
        execution_id: env_vars.RUNYARD_EXECUTION_ID,
        key: env_vars.WARP_API_KEY,
      };
      return createHarness(plane, envelope);
    },
    /** Closes the connection. API Gateway reports that unless `isTold` is false. */
    close: async ({ isTold = true } = {}) => {
      plane.received.delete(connectionId);
      const { file, rights } = eventSources.disconnectWorker;
      const event = { requestContext: { connectionId, eventType: "DISCONNECT" } };
      if (isTold) await withRights(file, rights, () => disconnectWorker.handle(event, plane.ports));
    },
  };
}
