import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as v from "valibot";
import type { AgentWork } from "../../engine/agent-context.ts";
import type { AgentEngine, Turn, TurnOutcome } from "../../engine/engine.ts";
import { isCancelledSince } from "../../engine/resume.ts";
import { createRetryReporter } from "../../reporting/retry-reporter.ts";
import { createHash } from "../../support/lazy-crypto.ts";
import { formatError } from "../../support/stop.ts";
import { watchSlice } from "../../support/time-slice.ts";
import { ProcessTransport } from "../../tools/remote/mcp-process.ts";
import { PLAN_ONLY, type TurnInput } from "../agent.ts";
import { CANCELLED, formatHistory, GO_ON, isBegun, listEarlier } from "../earlier-conversation.ts";
import { openForwarder } from "../forwarder.ts";
import { createMessageRecorder } from "../message-recorder.ts";
import { RELAY, RELAY_FILE } from "../relay.ts";
import type { AcpAgent } from "./agents.ts";
import { type Connection, connectAgent } from "./connection.ts";
import { buildScript, buildStart } from "./script.ts";
import {
  answerPermission,
  findSession,
  Initialized,
  Opened,
  PermissionParams,
  PROTOCOL_VERSION,
  Prompted,
  toAcpServers,
  toSessionMark,
} from "./session.ts";
import { createUpdateReader, MAX_RECORDS, UpdateParams } from "./updates.ts";

/** How long the agent may take to start, which may download it, and to end a turn that was cancelled. */
const START_MS = 300_000;
const CANCEL_MS = 5_000;
const SOCKET = "a";

/**
 * Creates an engine from an agent that speaks the Agent Client Protocol, or a command that starts one: each turn starts it in the sandbox
 * and continues the session of the turn before. It has no access to files and terminals of the harness, since it has those of the sandbox.
 * Its home is part of the workspace, so that checkpoints keep its sessions.
 */
export function createAcpEngine(
  agent: AcpAgent | string,
  { modelId, work, servers, briefing }: ThirdPartyRun,
): AgentEngine {
  const name = typeof agent === "string" ? agent : agent.name;
  const options: AcpOptions = {
    ...{ name, start: buildStart(agent, modelId, work), modelId, work, servers },
    instructions: [...briefing, ...(work.context.mode === "plan" ? [PLAN_ONLY] : [])].join("\n\n"),
    digest: createHash("sha256").update(`${name}\n${work.workingDirectory}`).digest("hex").slice(0, 16),
  };
  const onRetry = createRetryReporter(work.outbox);
  let count = 0;
  return {
    async takeTurn(turn) {
      work.slice.beforeStep();
      const { envelope, host, live } = work;
      const socket = `${SOCKET}${++count}`;
      await writeFile(join(host.steps, RELAY_FILE), RELAY);
      const access = { modelUrl: envelope.model_url, key: envelope.key, modelId, onRetry, onText: live.text };
      await using _ = await openForwarder({ ...access, socket: join(host.steps, socket) });
      return await takeTurn(turn, socket, options);
    },
  };
}

/** What the engine of every third-party agent gets. */
export interface ThirdPartyRun {
  readonly modelId: string;
  readonly work: AgentWork;
  readonly servers: TurnInput["mcpServers"];
  /** What every third-party agent is told about its run. */
  readonly briefing: readonly string[];
}

interface AcpOptions extends Omit<ThirdPartyRun, "briefing"> {
  /** The name of the agent, or the command that starts it. */
  readonly name: string;
  /** The part of a bash script that starts it. */
  readonly start: string;
  /** What a new session begins with. */
  readonly instructions: string;
  /**
   * Tells the sessions of this agent in this directory from others. Agents find or continue no session of a directory that is gone, and
   * without isolation each execution has another one.
   */
  readonly digest: string;
}

async function takeTurn(turn: Turn, socket: string, options: AcpOptions): Promise<TurnOutcome> {
  const { name, start, modelId, work } = options;
  const { outbox, redactor, live, slice, context } = work;
  const recorder = createMessageRecorder((message) => outbox.message(message), redactor, live);
  const exceeded = new AbortController();
  const updates = createUpdateReader({
    ...{ recorder, send: (message) => outbox.message(message), redactor },
    onExceeded: () => exceeded.abort(new Error(`it has more than ${MAX_RECORDS} calls, plans and thoughts`)),
  });
  const transport = new ProcessTransport(
    { command: "bash", args: ["-c", buildScript(socket, start, modelId, work)], env: undefined },
    { ...work, executionId: work.envelope.execution_id },
  );
  const state = { isRecorded: false };
  using over = watchSlice(slice);
  const stopped = AbortSignal.any([work.turn(), work.signal, over.signal]);
  const signal = AbortSignal.any([stopped, exceeded.signal]);
  try {
    const connection = await connectAgent(transport, {
      request(method, params) {
        if (method !== "session/request_permission") return undefined;
        const permission = v.parse(PermissionParams, params);
        // Some agents say only here what a call does.
        if (state.isRecorded) updates.read({ sessionUpdate: "tool_call_update", ...permission.toolCall });
        return answerPermission(permission, context.mode);
      },
      notification(method, params) {
        const parsed = method === "session/update" ? v.safeParse(UpdateParams, params) : undefined;
        if (parsed?.success !== true || !state.isRecorded) return;
        updates.read(parsed.output.update);
        slice.afterStep();
      },
    });
    const { sessionId, prompt } = await openSession(connection, turn, options, signal);
    state.isRecorded = true;
    const stopReason = await sendPrompt(connection, { sessionId, prompt }, signal);
    updates.end();
    return toOutcome(stopReason, recorder.takeFinalMessage());
  } catch (error) {
    stopped.throwIfAborted();
    return { success: false, summary: `The agent \`${name}\` could not take the turn: ${formatError(error)}` };
  } finally {
    updates.end();
    recorder.breakOff();
    await transport.close();
  }
}

/** Continues the session of an earlier turn, or opens one that gets the conversation so far. */
async function openSession(connection: Connection, turn: Turn, options: AcpOptions, stopped: AbortSignal) {
  const { work, servers, digest } = options;
  const starting = AbortSignal.timeout(START_MS);
  const signal = AbortSignal.any([stopped, starting]);
  const capabilities = { fs: { readTextFile: false, writeTextFile: false }, terminal: false };
  const { protocolVersion, agentCapabilities } = v.parse(
    Initialized,
    await connection.request(
      "initialize",
      { protocolVersion: PROTOCOL_VERSION, clientCapabilities: capabilities },
      signal,
    ),
  );
  if (protocolVersion !== PROTOCOL_VERSION)
    throw new Error(
      `it speaks version ${protocolVersion} of the protocol, and this harness version ${PROTOCOL_VERSION}`,
    );
  const { converted, refused } = toAcpServers(servers, agentCapabilities?.mcpCapabilities?.http === true);
  for (const name of refused)
    work.outbox.event("setup_mcp_servers", {
      is_error: true,
      detail: `${name}: this agent calls no MCP servers by URL`,
    });
  const place = { cwd: work.workingDirectory, mcpServers: converted };
  const begun = isBegun(turn.conversation) ? [GO_ON] : [];
  const known = agentCapabilities?.loadSession === true ? findSession(turn.conversation, digest) : undefined;
  const earlier = listEarlier(turn, work);
  if (known !== undefined && (await loadSession(connection, { sessionId: known, ...place }, signal))) {
    const cancelled = isCancelledSince(earlier) ? [CANCELLED] : [];
    return { sessionId: known, prompt: [...begun, ...cancelled, ...turn.instructions] };
  }
  const { sessionId } = v.parse(Opened, await connection.request("session/new", place, signal));
  const history = earlier.length === 0 ? [] : [formatHistory(earlier)];
  // The recorded conversation grows with this message.
  work.outbox.message(toSessionMark(sessionId, digest));
  return { sessionId, prompt: [options.instructions, ...history, ...begun, ...turn.instructions] };
}

/** An agent may have lost the session, since its home is as old as the last checkpoint. */
async function loadSession(connection: Connection, params: object, signal: AbortSignal): Promise<boolean> {
  try {
    await connection.request("session/load", params, signal);
    return true;
  } catch {
    signal.throwIfAborted();
    return false;
  }
}

/** Returns the reason for which the turn ended. A turn that is stopped is cancelled first, so that the agent can save its session. */
async function sendPrompt(
  connection: Connection,
  { sessionId, prompt }: { readonly sessionId: string; readonly prompt: readonly string[] },
  signal: AbortSignal,
): Promise<string> {
  const ended = new AbortController();
  const content = prompt.map((text) => ({ type: "text", text }));
  const response = connection.request("session/prompt", { sessionId, prompt: content }, ended.signal);
  const stop = () => {
    void connection.notify("session/cancel", { sessionId }).catch(() => {});
    setTimeout(() => ended.abort(signal.reason), CANCEL_MS).unref();
  };
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  try {
    const { stopReason } = v.parse(Prompted, await response);
    signal.throwIfAborted();
    return stopReason;
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

function toOutcome(stopReason: string, response: string): TurnOutcome {
  if (stopReason === "end_turn") return { success: true, summary: response || "Done." };
  const why = `The agent ended its turn with the reason ${stopReason}.`;
  return { success: false, summary: response === "" ? why : `${why} It said: ${response}` };
}
