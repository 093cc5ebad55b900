import { randomUUID } from "node:crypto";
import type { SQSBatchResponse, SQSEvent } from "aws-lambda";
import { dispatchRun } from "#functions/executions/dispatch-run.ts";
import { endRun } from "#functions/executions/end-run.ts";
import { eventSources } from "#infra/event-sources.ts";
import { deadRunConsumer } from "#shared/executions/dead-runs.ts";
import { keys } from "#shared/table/keys.ts";
import type { Envelope } from "#shared/wire/harness.ts";
import { createClient } from "./client.ts";
import type { ResponseBody, TestControlPlane, TestPorts } from "./control-plane.ts";
import { withRights } from "./rights.ts";
import { sqsEvent } from "./sqs-event.ts";

/** Creates a run and returns its id. */
export async function createRun(
  plane: TestControlPlane,
  body: Record<string, unknown> = { prompt: "hello" },
  key = plane.key,
): Promise<string> {
  const { status, body: response } = await createClient(plane, key).post("/agent/runs", body);
  if (status !== 200) throw new Error(`the run was not created: ${JSON.stringify(response)}`);
  return response.run_id;
}

/** Makes a run work on the branch of a pull request, as the event of a trigger does. */
export const allowPush = (
  { table }: Pick<TestControlPlane, "table">,
  runId: string,
  triggerId = "none",
): Promise<void> =>
  table.write({
    kind: "update",
    key: keys.body(runId),
    set: {
      trigger: {
        trigger_id: triggerId,
        push: { system: "github", url: "https://github.com/acme/shop", repository: "acme/shop", branch: "fix" },
      },
    },
  });

/** Makes the calls of a harness, with the run's key and its own instance id. */
export function createHarness(
  plane: TestControlPlane,
  { run_id, execution_id, key }: Envelope,
  instance: string = randomUUID(),
) {
  const client = createClient(plane, key);
  const headers = { "runyard-instance": instance, "runyard-protocol": "1" };
  const support = (call: string, body: unknown): Promise<ResponseBody> =>
    client.post(`/harness-support/${call}`, body, { headers });
  return {
    run_id,
    execution_id,
    key,
    client,
    support,
    resolve: (body: object = {}) => support("resolve-prompt", body),
    messages: (first: number, ...texts: string[]) =>
      support("messages", { execution_id, first_sequence: first, messages: texts.map(said) }),
    beat: (stored = 0) => support("heartbeat", { execution_id, followups_stored: stored }),
    finish: (success = true, summary = "all is done") => support("finish-task", { success, summary }),
    shutDown: (body: unknown = {}) => support("report-shutdown", body),
    event: (body: unknown) => client.post(`/agent/runs/${run_id}/client-events`, body, { headers }),
  };
}
export type Harness = ReturnType<typeof createHarness>;

/** A new run whose harness has made its first call. */
export async function workingRun(
  plane: TestControlPlane,
  body: Record<string, unknown> = { prompt: "hello" },
  key = plane.key,
): Promise<Harness> {
  const harness = await startedRun(plane, body, key);
  const { status } = await harness.resolve();
  if (status !== 200) throw new Error(`resolve-prompt returned ${status}`);
  return harness;
}

/** A new run that its caller executes, and has not begun. */
export async function localRun(plane: TestControlPlane, request: object = { prompt: "hello" }): Promise<Harness> {
  const { body } = await createClient(plane).post("/agent/runs", { ...request, execution_location: "LOCAL" });
  const head = await plane.ports.runs.head(body.run_id);
  const urls = { base_url: plane.ports.baseUrl, model_url: `${plane.ports.baseUrl}/model` };
  const execution_id = head?.execution_id ?? "none";
  return createHarness(plane, { version: 1, ...urls, run_id: body.run_id, execution_id, key: body.run_key });
}

/** A new run whose sandbox was started and has not called yet. */
export async function startedRun(
  plane: TestControlPlane,
  body: Record<string, unknown> = { prompt: "hello" },
  key = plane.key,
): Promise<Harness> {
  return createHarness(plane, await plane.dispatch(await createRun(plane, body, key)));
}

/** Delivers the queued messages, and returns the harness of the first execution that they start. */
export async function nextExecution(plane: TestControlPlane): Promise<Harness> {
  const before = plane.started.length;
  await deliver(plane, "runs");
  const envelope = plane.started[before];
  if (envelope === undefined) throw new Error("no sandbox was started");
  return createHarness(plane, envelope);
}

/** Delivers the queued messages to their consumers until none is left. */
export async function deliver(plane: TestControlPlane, onlyQueue?: "runs" | "ends"): Promise<void> {
  for (;;) {
    const index = plane.sent.findIndex(({ queue }) => onlyQueue === undefined || queue === onlyQueue);
    const [message] = index < 0 ? [] : plane.sent.splice(index, 1);
    if (message === undefined) return;
    const failed = await consume(plane, message.queue, message.runId);
    if (failed.batchItemFailures.length > 0) throw new Error(`a message of ${message.queue} failed`);
  }
}

const sourcesByState = {
  runs: { name: "dispatch-run", rights: eventSources.dispatchRun.rights },
  ends: { name: "end-run", rights: eventSources.endRun.rights },
  "runs-dead": { name: "reap-runs", rights: eventSources.reapRuns.rights },
} as const;
const consumers = { runs: dispatchRun, ends: endRun, "runs-dead": deadRunConsumer } as const;

/** Invokes a queue's consumer with one message, and returns its response. */
export function consume(
  plane: TestControlPlane,
  queue: keyof typeof consumers,
  runId: string,
): Promise<SQSBatchResponse> {
  const consumer: { handle(event: SQSEvent, ports: TestPorts): Promise<SQSBatchResponse> } = consumers[queue];
  const { name, rights } = sourcesByState[queue];
  return withRights(name, rights, () => consumer.handle(sqsEvent(queue, [{ v: 1, run_id: runId }]), plane.ports));
}

/** A message of the agent with one text. */
export const said = (text: string) => ({ role: "assistant", content: [{ type: "text", text }] });
