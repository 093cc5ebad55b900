import { rmSync, writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Envelope } from "#shared/wire/harness.ts";
import type { CommandRunner } from "../commands/command-runner.ts";
import type { AgentEngine, Turn, TurnOutcome } from "../engine/engine.ts";
import { isCancelledSince } from "../engine/resume.ts";
import type { WorkspacePaths } from "../isolation/sandbox.ts";
import type { Redactor } from "../redaction/redactor.ts";
import type { LiveOutput } from "../reporting/live-output.ts";
import type { Outbox } from "../reporting/outbox.ts";
import { createRetryReporter } from "../reporting/retry-reporter.ts";
import type { RunContext } from "../setup/run-context.ts";
import type { Log } from "../support/log.ts";
import { formatError } from "../support/stop.ts";
import { type Slice, watchSlice } from "../support/time-slice.ts";
import { type CommandLineAgent, type StreamReader, type TurnInput, toModelName } from "./agent.ts";
import { type CommandOutput, TAP, TAP_FILE, WATCHED_FILE } from "./command-output.ts";
import { CANCELLED, formatHistory, GO_ON, isBegun, listEarlier } from "./earlier-conversation.ts";
import { openForwarder } from "./forwarder.ts";
import { createLines } from "./lines.ts";
import { createMessageRecorder, type MessageRecorder } from "./message-recorder.ts";
import { RELAY, RELAY_FILE } from "./relay.ts";
import type { Sessions } from "./sessions.ts";
import { buildTurnScript } from "./turn-script.ts";

export interface ThirdPartyOptions {
  readonly agent: CommandLineAgent;
  /** The directory whose `node_modules` contains it, as commands see it. */
  readonly folder: string;
  /** The Node that runs it, as commands see it. */
  readonly node: string;
  /** Id of the model in the gateway. */
  readonly modelId: string;
  readonly reasoningLevel: string | undefined;
  /** The run's `base_prompt`. */
  readonly systemPrompt: string | undefined;
  readonly mode: RunContext["mode"];
  readonly context: Pick<RunContext, "messages" | "own_messages">;
  /** The first instructions of the run. */
  readonly opening: readonly string[];
  readonly mcpServers: TurnInput["mcpServers"];
  readonly envelope: Pick<Envelope, "model_url" | "key">;
  readonly runner: CommandRunner;
  readonly outbox: Pick<Outbox, "message" | "event" | "flush">;
  readonly redactor: Redactor;
  readonly live: Pick<LiveOutput, "text" | "open" | "onWatched">;
  readonly sessions: Sessions;
  readonly slice: Slice;
  /** Aborted when the current turn is interrupted. */
  readonly turn: () => AbortSignal;
  readonly log: Log;
  /** Paths on the host, and as commands see them. */
  readonly host: WorkspacePaths;
  readonly seen: WorkspacePaths;
  /** As commands see it. */
  readonly workingDirectory: string;
}

/** Short, because the path of a socket has about a hundred characters at most. */
const SOCKET = "m";
/** The longest delay of a timer. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Creates an engine from a third-party command-line agent: each turn starts it once in the sandbox and continues the same session. Its
 * texts and actions become messages of the conversation. The file of the session is stored after each turn, so that the next execution can
 * continue it.
 */
export function createThirdPartyEngine(options: ThirdPartyOptions): AgentEngine {
  const { agent, sessions, log, outbox, redactor, slice, host, seen } = options;
  const onRetry = createRetryReporter(outbox);
  let session: string | undefined;
  let isFirst = true;
  let count = 0;

  /** Builds the prompt: in a session that the agent remembers, only the new instructions. */
  const buildPrompt = async (turn: Turn): Promise<string> => {
    const { instructions, conversation } = turn;
    const current = instructions.join("\n\n");
    if (!isFirst) return current;
    isFirst = false;
    const earlier = listEarlier(turn, options);
    // Without earlier messages, any stored session belongs to an execution whose messages were discarded.
    if (earlier.length === 0) return current;
    session = await sessions.restore();
    const [history, begun] = [
      session === undefined ? [formatHistory(earlier)] : [],
      isBegun(conversation) ? [GO_ON] : [],
    ];
    const cancelled = session !== undefined && isCancelledSince(earlier) ? [CANCELLED] : [];
    return [...history, ...begun, ...cancelled, current].join("\n\n");
  };
  const save = async () => {
    if (session === undefined) return;
    try {
      // Store the messages before the raw transcript, so that the conversation can be read.
      await outbox.flush();
      await sessions.save(session);
    } catch (error) {
      log("warn", "the agent's session was not stored", { detail: formatError(error) });
    }
  };

  return {
    async takeTurn(turn) {
      const prompt = await buildPrompt(turn);
      const { modelId, live } = options;
      const recorder = createMessageRecorder((message) => outbox.message(message), redactor, live);
      const reader = agent.reader(recorder);
      const steps = (name: string) => join(host.steps, name);
      const input: TurnInput = { ...toTurnOptions(options), session, files: seen.steps };
      const promptFile = `prompt-${++count}.md`;
      const written = { ...agent.files(input), [RELAY_FILE]: RELAY, [TAP_FILE]: TAP, [promptFile]: prompt };
      await Promise.all(Object.entries(written).map(([name, text]) => writeFile(steps(name), text)));
      const { model_url: modelUrl, key } = options.envelope;
      const socket = `${SOCKET}${count}`;
      const onText = live.text;
      const onOutput = (output: CommandOutput) => reader.output?.(output);
      await using _ = await openForwarder({ socket: steps(socket), modelUrl, key, modelId, onRetry, onText, onOutput });
      const unwatch = live.onWatched((isWatched) => {
        if (isWatched) writeFileSync(steps(WATCHED_FILE), join(seen.steps, socket));
        else rmSync(steps(WATCHED_FILE), { force: true });
      });
      const files = { folder: seen.steps, socket, prompt: promptFile };
      const command = buildTurnScript(options, agent.script(input), files);
      slice.beforeStep();
      try {
        return await runTurn(command, { recorder, reader }, options, (id) => {
          session = id;
        });
      } finally {
        unwatch();
        await save();
      }
    },
  };
}

function toTurnOptions({ modelId, ...options }: ThirdPartyOptions) {
  const { reasoningLevel, systemPrompt, mode, mcpServers, workingDirectory } = options;
  return { model: toModelName(modelId), reasoningLevel, systemPrompt, mode, mcpServers, workingDirectory };
}

async function runTurn(
  command: string,
  { recorder, reader }: { readonly recorder: MessageRecorder; readonly reader: StreamReader },
  { agent, runner, slice, turn, workingDirectory }: ThirdPartyOptions,
  onSession: (id: string) => void,
): Promise<TurnOutcome> {
  const lines = createLines((line) => {
    reader.read(line);
    const id = reader.session();
    if (id !== undefined) onSession(id);
    slice.afterStep();
  });
  using over = watchSlice(slice);
  try {
    const timeoutMs = Math.max(1, Math.min(MAX_TIMER_MS, slice.deadlineAt - Date.now()));
    const signal = AbortSignal.any([turn(), over.signal]);
    const { exitCode, exceeded } = await runner.run({
      command,
      workingDirectory,
      timeoutMs,
      signal,
      onOutput: lines.push,
    });
    lines.end();
    const ended = reader.ended();
    const response = recorder.takeFinalMessage();
    if (ended?.success === true) return { success: true, summary: response || ended.summary || "Done." };
    const why = exceeded || ended?.summary || response || lines.noise() || "no reason was given";
    return { success: false, summary: `The harness ${agent.name} ended with exit code ${exitCode}: ${why}` };
  } finally {
    recorder.breakOff();
  }
}
