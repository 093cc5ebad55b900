import { mkdir, mkdtemp } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { json } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import * as v from "valibot";
import { lastLines } from "../../../server/host/commands.ts";
import { firstFreePort } from "../../../server/host/ports.ts";
import { Problem } from "../../../server/host/terminal.ts";
import { PROMPT_COMMAND, restBefore } from "../latency.ts";
import { calculateSpread, type Spread } from "../statistics.ts";
import { installPeer, respondsWithin, startPeer } from "./peer.ts";

/** What OpenHands' agent server takes for a conversation of one command. */
export interface OpenhandsFigures {
  readonly name: string;
  readonly runs: number;
  readonly firstCommand: Spread;
  readonly end: Spread;
  /** Conversations a second, of several callers. */
  readonly perSecond: Readonly<Record<number, number>>;
}

const NAME = "openhands-agent-server 1.58.0";
const START_MS = 120_000;
const POLL_MS = 10;
const CALLERS = [4, 16];
const PER_CALLER = 4;
/** The server refuses conversations above its limit; a client tries again. */
const RETRY_MS = 50;

/**
 * OpenHands' agent server with its terminal and a stand-in for the model, which requests one command and then is done. The server
 * runs the command as its own user, without a boundary.
 */
export async function measureOpenhands(runs: number): Promise<OpenhandsFigures> {
  const programs = await installPeer("openhands");
  const home = await mkdtemp(path.join(tmpdir(), "runyard-openhands-"));
  const workspace = path.join(home, "workspace");
  await mkdir(workspace);
  const model = await startModel();
  const port = await firstFreePort(18_800);
  const args = ["-m", "openhands.agent_server", "--host", "127.0.0.1", "--port", String(port)];
  const env = { PATH: process.env["PATH"], HOME: home, LITELLM_LOCAL_MODEL_COST_MAP: "True" };
  const peer = startPeer(path.join(programs, "python"), args, home, env);
  try {
    const base = `http://127.0.0.1:${port}`;
    if (!(await respondsWithin(peer.child, `${base}/health`, START_MS))) {
      throw new Problem("OpenHands did not start.", lastLines(peer.output(), 8));
    }
    const converse = () => conversation(base, model.url, workspace);
    await converse();
    const times: Times[] = [];
    for (let run = 0; run < runs; run++) {
      await restBefore(run);
      times.push(await converse());
    }
    const perSecond: Record<number, number> = {};
    for (const callers of CALLERS) perSecond[callers] = await measureThroughput(converse, callers);
    const spread = (member: keyof Times) => calculateSpread(times.map((one) => one[member]));
    return { name: NAME, runs, firstCommand: spread("firstCommand"), end: spread("end"), perSecond };
  } finally {
    await peer.end();
    model.server.close();
  }
}

interface Times {
  readonly firstCommand: number;
  readonly end: number;
}

async function measureThroughput(converse: () => Promise<Times>, callers: number): Promise<number> {
  const began = performance.now();
  const call = async (): Promise<void> => {
    for (let run = 0; run < PER_CALLER; run++) await converse();
  };
  await Promise.all(Array.from({ length: callers }, call));
  return (callers * PER_CALLER * 1000) / (performance.now() - began);
}

const Conversation = v.object({ id: v.string(), execution_status: v.string() });
const Events = v.object({ items: v.array(v.looseObject({ kind: v.string(), timestamp: v.string() })) });

/** Starts a conversation and waits until it is finished. */
async function conversation(base: string, modelUrl: string, workspace: string): Promise<Times> {
  const since = Date.now();
  const llm = { model: "openai/stand-in", base_url: modelUrl, api_key: "none", usage_id: "agent", num_retries: 0 };
  const body = {
    agent: { kind: "Agent", llm, tools: [{ name: "terminal" }] },
    workspace: { kind: "LocalWorkspace", working_dir: workspace },
    initial_message: { role: "user", content: [{ type: "text", text: "Tell the time." }], run: true },
    autotitle: false,
  };
  const init = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  const { id } = await read(`${base}/api/conversations`, Conversation, init);
  while ((await read(`${base}/api/conversations/${id}`, Conversation)).execution_status !== "finished") {
    await pause(POLL_MS);
  }
  const end = Date.now() - since;
  const { items } = await read(`${base}/api/conversations/${id}/events/search?limit=100`, Events);
  const observed = items.filter(({ kind }) => kind === "ObservationEvent");
  const [, ranAt] = /"(1\d{12})/.exec(JSON.stringify(observed)) ?? [];
  return { firstCommand: Number(ranAt) - since, end };
}

async function read<S extends v.GenericSchema>(url: string, schema: S, init: RequestInit = {}) {
  let response = await fetch(url, { ...init, signal: AbortSignal.timeout(120_000) });
  while (response.status === 429) {
    await response.body?.cancel();
    await pause(RETRY_MS);
    response = await fetch(url, { ...init, signal: AbortSignal.timeout(120_000) });
  }
  return v.parse(schema, await response.json());
}

const Completion = v.object({ messages: v.array(v.looseObject({ role: v.string() })) });

/** A model with OpenAI's API that requests one command, and is done when it has the result. */
async function startModel(): Promise<{ readonly url: string; readonly server: Server }> {
  const server = createServer(async (request, response) => {
    const { messages } = v.parse(Completion, await json(request));
    const isDone = messages.some(({ role }) => role === "tool");
    const input = JSON.stringify({ command: PROMPT_COMMAND, security_risk: "LOW", summary: "tell the time" });
    const call = { id: `call_${Date.now()}`, type: "function", function: { name: "terminal", arguments: input } };
    const message = isDone ? { content: "done" } : { content: null, tool_calls: [call] };
    const choice = {
      index: 0,
      message: { role: "assistant", ...message },
      finish_reason: isDone ? "stop" : "tool_calls",
    };
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    const body = { id: "stand-in", object: "chat.completion", created: 1, model: "stand-in", choices: [choice], usage };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
  const port = await firstFreePort(18_900);
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${port}/v1`, server };
}
