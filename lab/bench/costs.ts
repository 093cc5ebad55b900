import { createHash, randomUUID } from "node:crypto";
import * as v from "valibot";
import { routes } from "../../infra/routes.ts";
import type { ControlPlane, MeasuredResponse, Usage } from "./control-plane.ts";

/** What one call of a function costs in counts. */
export interface Cost {
  readonly name: string;
  readonly calls: number;
  readonly reads: number;
  readonly writes: number;
  /** Bytes to and from AWS. */
  readonly bytes: number;
  /** The calls by command, such as `GetItem ×2`. */
  readonly commands: string;
}

export interface Costs {
  readonly steps: readonly Cost[];
  /** From create to the composed transcript, without messages or reports in between. */
  readonly bareRun: Cost;
  /** With one command: the harness sends agent_started, and its messages with the request that ends the run. */
  readonly shortRun: Cost;
  /** Bytes of the head of an executing run: one without messages, and one with messages, a file and a follow-up. */
  readonly headBytes: { readonly bare: number; readonly rich: number };
  /** A run, for what needs one. */
  readonly lastRun: string;
  /** Routes that this scenario does not call. */
  readonly unmeasured: readonly string[];
}

const RunId = v.object({ run_id: v.string() });

/** Takes runs from creation to their end, one call after the other as a harness and a caller make them. */
export async function measureCosts(plane: ControlPlane): Promise<Costs> {
  const steps = new Map<string, Cost>();
  const note = (name: string, usage: Usage): void => void steps.set(name, calculateCost(name, [usage]));

  async function call(name: string, target: string, options: Parameters<ControlPlane["call"]>[2] = {}, want = 200) {
    const [method = ""] = name.split(" ");
    const response = await plane.call(method, target, options);
    expectStatus(name, response, want);
    note(name, response);
    return response;
  }
  async function create(name: string, body: Record<string, unknown>) {
    const response = await call(name, "/agent/runs", { body: { title: TITLE, prompt: PROMPT, ...body } });
    return { response: response, runId: v.parse(RunId, response.body).run_id };
  }
  async function dispatch(runId: string) {
    const usage = await plane.consume("dispatchRun", runId);
    note("SQS dispatch-run", usage);
    const { key, execution_id } = plane.lastEnvelope();
    const headers = { "runyard-instance": randomUUID(), "runyard-protocol": "1" };
    return { usage, execution_id, with: (body: unknown) => ({ key, headers, body }) };
  }
  async function end(runId: string) {
    const usage = await plane.consume("endRun", runId);
    note("SQS end-run", usage);
    return usage;
  }

  const prompted = "POST /harness-support/resolve-prompt";
  const finishing = "POST /harness-support/finish-task";

  /**
   * Takes one run to its end. `between` makes the calls between the first and the last one; `stored` is what the last one stores
   * besides the outcome.
   */
  async function live(
    between: (execution: Execution, run: string) => Promise<Usage[]>,
    stored?: { readonly first_sequence: number; readonly messages: typeof MESSAGES; readonly followups_stored: number },
  ): Promise<Life> {
    const { response: created, runId } = await create("POST /agent/runs", {});
    const execution = await dispatch(runId);
    const resolved = await call(prompted, "/harness-support/resolve-prompt", execution.with({}));
    const more = await between(execution, `/agent/runs/${runId}`);
    const headBytes = await plane.headBytes(runId);
    const name = stored === undefined ? finishing : `${finishing} (messages)`;
    const finished = await call(name, "/harness-support/finish-task", execution.with({ ...FINISH, ...stored }));
    const ended = await end(runId);
    return { runId, headBytes, usages: [created, execution.usage, resolved, ...more, finished, ended] };
  }

  // The first run creates what a new team lacks, such as its counters.
  await live(async () => []);
  const bare = await live(async () => []);
  const last = { first_sequence: 1, messages: MESSAGES, followups_stored: 0 };
  const short = await live(async (execution, run) => [await reportStart(call, execution, run)], last);
  const rich = await live(async (execution, run) => {
    await reportStart(call, execution, run);
    await storeMessages(call, execution);
    await storeArtifact(call, execution.with);
    await call("POST /agent/runs/{runId}/followups", `${run}/followups`, { body: { message: PROMPT } });
    const heartbeat = { execution_id: execution.execution_id, followups_stored: 1 };
    await call("POST /harness-support/heartbeat (follow-up)", "/harness-support/heartbeat", execution.with(heartbeat));
    return [];
  });
  await readAll(call, rich.runId);
  await otherEnds(call, create, dispatch);

  return {
    steps: [...steps.values()],
    bareRun: calculateCost("a run without messages", bare.usages),
    shortRun: calculateCost("a run of one command", short.usages),
    headBytes: { bare: bare.headBytes, rich: rich.headBytes },
    lastRun: bare.runId,
    unmeasured: routes
      .filter(({ path }) => path !== "*")
      .map(({ method, path }) => `${method} ${path}`)
      .filter((name) => !steps.has(name)),
  };
}

interface Life {
  readonly runId: string;
  readonly headBytes: number;
  readonly usages: readonly Usage[];
}

interface Execution {
  readonly execution_id: string;
  /** A call with the execution's key. */
  readonly with: (body: unknown) => { key: string; headers: Record<string, string>; body: unknown };
}

function reportStart(call: Call, execution: Execution, run: string): Promise<Usage> {
  const event = { event_uuid: randomUUID(), event_name: "agent_started", timestamp: new Date().toISOString() };
  return call("POST /agent/runs/{runId}/client-events", `${run}/client-events`, execution.with(event));
}

/** What the harness sends while a command takes longer. */
async function storeMessages(call: Call, execution: Execution): Promise<void> {
  const ids = { execution_id: execution.execution_id };
  const batch = execution.with({ ...ids, first_sequence: 1, messages: MESSAGES });
  await call("POST /harness-support/messages", "/harness-support/messages", batch);
  const heartbeat = execution.with({ ...ids, followups_stored: 0 });
  await call("POST /harness-support/heartbeat", "/harness-support/heartbeat", heartbeat);
}

type Call = (
  name: string,
  target: string,
  options?: Parameters<ControlPlane["call"]>[2],
  want?: number,
) => Promise<MeasuredResponse>;

/** A file is reported, uploaded and reported again. */
async function storeArtifact(call: Call, request: (body: unknown) => object): Promise<void> {
  const content = "an artifact\n";
  const data = {
    filepath: "a.txt",
    filename: "a.txt",
    mime_type: "text/plain",
    size_bytes: Buffer.byteLength(content),
    sha256: createHash("sha256").update(content).digest("hex"),
  };
  const artifact = request({ artifact_type: "FILE", data });
  const target = "/harness-support/report-artifact";
  const { body } = await call("POST /harness-support/report-artifact", target, artifact);
  const { upload } = v.parse(v.object({ upload: v.object({ url: v.string() }) }), body);
  await fetch(upload.url, { method: "PUT", body: content });
  await call("POST /harness-support/report-artifact (commit)", target, artifact);
}

/** What a caller reads of a run that has ended. */
async function readAll(call: Call, runId: string): Promise<void> {
  const run = `/agent/runs/${runId}`;
  const { body } = await call("GET /agent/runs/{runId}", run);
  const [artifact] = v.parse(WithArtifacts, body).artifacts;
  await call("GET /agent/runs", "/agent/runs?limit=20");
  await call("GET /agent/runs/{runId}/timeline", `${run}/timeline`);
  await call("GET /agent/runs/{runId}/conversation", `${run}/conversation`);
  await call("GET /agent/runs/{runId}/events", `${run}/events?after=0`);
  await call("GET /agent/runs/{runId}/response", `${run}/response`);
  await call("GET /agent/runs/{runId}/transcript", `${run}/transcript`, {}, 302);
  await call("GET /agent/conversations/{conversationId}", `/agent/conversations/${runId}`);
  await call("GET /agent/artifacts/{artifactUid}", `/agent/artifacts/${artifact?.data.artifact_uid}`);
  await call("GET /agent/models", "/agent/models");
}

const WithArtifacts = v.object({ artifacts: v.array(v.object({ data: v.object({ artifact_uid: v.string() }) })) });

/** Runs that end otherwise: as a child, by cancel, by the sandbox's report. */
async function otherEnds(
  call: Call,
  create: (name: string, body: Record<string, unknown>) => Promise<{ runId: string }>,
  dispatch: (runId: string) => Promise<{ with: (body: unknown) => object }>,
): Promise<void> {
  const parent = await create("POST /agent/runs", {});
  await create("POST /agent/runs (child)", { parent_run_id: parent.runId });
  await call("POST /agent/runs/{runId}/cancel", `/agent/runs/${parent.runId}/cancel`, {});
  const { runId } = await create("POST /agent/runs", {});
  const execution = await dispatch(runId);
  await call("POST /harness-support/resolve-prompt", "/harness-support/resolve-prompt", execution.with({}));
  await call("POST /harness-support/report-shutdown", "/harness-support/report-shutdown", execution.with({}));
  await call("POST /agent/run", "/agent/run", { body: { title: TITLE, prompt: PROMPT } });
}

const TITLE = "Tidy up the build and report what changed";
const PROMPT = "Tell the time.\n\n```sh\ndate\n```";
const FINISH = { success: true, summary: "Ran one command." };
const MESSAGES = [
  {
    role: "assistant",
    content: [{ type: "action", id: "1", category: "command", name: "run_command", input: { command: "date" } }],
  },
  {
    role: "tool",
    content: [
      {
        type: "action_result",
        action_id: "1",
        category: "command",
        name: "run_command",
        state: "completed",
        output: { exit_code: 0, stdout: "Sat Nov 21 12:00:00 UTC 2026\n", duration_ms: 12 },
      },
    ],
  },
  { role: "assistant", content: [{ type: "text", text: "Ran one command." }] },
];

function expectStatus(name: string, { status, body }: MeasuredResponse, want: number): void {
  if (status !== want) throw new Error(`${name} returned ${status}: ${JSON.stringify(body)}`);
}

function calculateCost(name: string, usages: readonly Usage[]): Cost {
  const calls = usages.flatMap((usage) => usage.calls);
  const units = usages.flatMap((usage) => usage.units);
  const sum = (kind: "read" | "write") =>
    units.filter((entry) => entry.kind === kind).reduce((total, entry) => total + entry.units, 0);
  const commands = Map.groupBy(calls, ({ command }) => command);
  return {
    name,
    calls: calls.length,
    reads: sum("read"),
    writes: sum("write"),
    bytes: calls.reduce((total, { sentBytes, receivedBytes }) => total + sentBytes + receivedBytes, 0),
    commands: [...commands].map(([command, { length }]) => (length > 1 ? `${command} ×${length}` : command)).join(", "),
  };
}
