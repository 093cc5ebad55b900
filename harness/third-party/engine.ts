import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Message } from "#shared/wire/conversation.ts";
import type { Envelope } from "#shared/wire/harness.ts";
import type { CommandRunner } from "../commands/command-runner.ts";
import { quoteForShell } from "../commands/shell-quote.ts";
import type { AgentEngine, Turn, TurnOutcome } from "../engine/engine.ts";
import { isCancelledSince } from "../engine/resume.ts";
import type { WorkspacePaths } from "../isolation/sandbox.ts";
import type { Outbox } from "../reporting/outbox.ts";
import type { RunContext } from "../setup/setup.ts";
import type { Log } from "../support/log.ts";
import { messageOf } from "../support/stop.ts";
import { cutBytesFromEnd } from "../support/text-limits.ts";
import type { Slice } from "../support/time-slice.ts";
import type { Asked, ThirdPartyAgent } from "./agent.ts";
import { openForwarder } from "./forwarder.ts";
import { createLines } from "./lines.ts";
import { createMessageRecorder, type MessageRecorder } from "./message-recorder.ts";
import { RELAY, RELAY_FILE } from "./relay.ts";
import type { Sessions } from "./sessions.ts";

export interface ThirdPartyOptions {
  readonly agent: ThirdPartyAgent;
  /** The directory whose `node_modules` it is in, as commands see it. */
  readonly folder: string;
  /** The node that runs it, as commands see it. */
  readonly node: string;
  /** Id of the model as the gateway has it. */
  readonly modelId: string;
  readonly reasoningLevel: string | undefined;
  /** The run's `base_prompt`. */
  readonly systemPrompt: string | undefined;
  readonly mode: RunContext["mode"];
  readonly mcpServers: Asked["mcpServers"];
  readonly envelope: Pick<Envelope, "model_url" | "key">;
  readonly runner: CommandRunner;
  readonly outbox: Pick<Outbox, "message" | "flush">;
  readonly sessions: Sessions;
  readonly slice: Slice;
  /** Aborted when the turn under way is broken off. */
  readonly turn: () => AbortSignal;
  readonly log: Log;
  /** Paths on the host, and as commands see them. */
  readonly host: WorkspacePaths;
  readonly seen: WorkspacePaths;
  /** As commands see it. */
  readonly workingDirectory: string;
}

/** Short, since the whole path of a socket has room for a hundred characters. */
const SOCKET = "m";
/** The longest time that a timer takes. */
const MAX_TIMER_MS = 2 ** 31 - 1;
/** How often is looked whether the execution's time is over. */
const LOOK_MS = 1_000;
/** Of a conversation that the agent has no session of. */
const HISTORY_BYTES = 64 * 1024;
const GO_ON =
  "You were interrupted while you worked on this. Look at what is there already, and go on from where you stopped.";

const CANCELLED =
  "What you were asked before this and had not answered was cancelled. Do not go on with it; do only what is asked now.";

/**
 * A command-line agent of others as an engine: each turn is one start of it inside the sandbox, in one session. What it says
 * and does becomes messages of the conversation; the session's own file is stored after each turn, so that the next
 * execution goes on with it.
 */
export function createThirdPartyEngine(options: ThirdPartyOptions): AgentEngine {
  const { agent, sessions, log, outbox, slice, host, seen } = options;
  let session: string | undefined;
  let isFirst = true;
  let count = 0;

  /** What is said to the agent: in a session that it remembers, only what is new. */
  const buildPrompt = async ({ instructions, conversation }: Turn): Promise<string> => {
    const asked = instructions.join("\n\n");
    if (!isFirst) return asked;
    isFirst = false;
    // What is asked now may be its last message already.
    const earlier = conversation.at(-1)?.role === "user" ? conversation.slice(0, -1) : conversation;
    // Where nothing was said, whatever session there is belongs to an execution that was left behind.
    if (earlier.length === 0) return asked;
    session = await sessions.restore();
    const [history, begun] = [
      session === undefined ? [formatHistory(earlier)] : [],
      isBegun(conversation) ? [GO_ON] : [],
    ];
    const cancelled = session !== undefined && isCancelledSince(earlier) ? [CANCELLED] : [];
    return [...history, ...begun, ...cancelled, asked].join("\n\n");
  };
  const save = async () => {
    if (session === undefined) return;
    try {
      // What was said is stored before the raw transcript is: then it is known that this conversation can be read.
      await outbox.flush();
      await sessions.save(session);
    } catch (error) {
      log("warn", "the agent's session was not stored", { detail: messageOf(error) });
    }
  };

  return {
    async takeTurn(turn) {
      const prompt = await buildPrompt(turn);
      const recorder = createMessageRecorder((message) => outbox.message(message));
      const steps = (name: string) => join(host.steps, name);
      const asked: Asked = { ...toTurnOptions(options), session, files: seen.steps };
      const promptFile = `prompt-${++count}.md`;
      const written = { ...agent.files(asked), [RELAY_FILE]: RELAY, [promptFile]: prompt };
      await Promise.all(Object.entries(written).map(([name, text]) => writeFile(steps(name), text)));
      const { model_url: modelUrl, key } = options.envelope;
      const socket = `${SOCKET}${count}`;
      await using _ = await openForwarder({ socket: steps(socket), modelUrl, key, modelId: options.modelId });
      const command = buildScript(options, asked, { socket, prompt: promptFile });
      slice.beforeStep();
      try {
        return await runTurn(command, recorder, options, (id) => {
          session = id;
        });
      } finally {
        await save();
      }
    },
  };
}

function toTurnOptions({ modelId, ...options }: ThirdPartyOptions) {
  const { reasoningLevel, systemPrompt, mode, mcpServers, workingDirectory } = options;
  // What stands before the slash is whose the model is here; the agent knows it by its maker's name.
  const model = modelId.slice(modelId.indexOf("/") + 1);
  return { model, reasoningLevel, systemPrompt, mode, mcpServers, workingDirectory };
}

/** The agent with the way to its model API, and what it complains of where it fails. */
function buildScript(
  { agent, folder, node, seen }: ThirdPartyOptions,
  asked: Asked,
  file: { readonly socket: string; readonly prompt: string },
): string {
  const { steps } = seen;
  return [
    `agent=${quoteForShell(`${folder}/node_modules/${agent.program}`)}`,
    `node() { ${quoteForShell(node)} "$@"; }`,
    `exec 9< <(node ${quoteForShell(`${steps}/${RELAY_FILE}`)} ${quoteForShell(`${steps}/${file.socket}`)})`,
    "IFS= read -r port <&9",
    "run() {",
    agent.script(asked),
    "}",
    'complaints="$TMPDIR/agent-complaints"',
    "code=0",
    `run < ${quoteForShell(`${steps}/${file.prompt}`)} 2> "$complaints" || code=$?`,
    '[ "$code" = 0 ] || tail -c 2000 "$complaints"',
    'exit "$code"',
  ].join("\n");
}

async function runTurn(
  command: string,
  recorder: MessageRecorder,
  { agent, runner, slice, turn, workingDirectory }: ThirdPartyOptions,
  onSession: (id: string) => void,
): Promise<TurnOutcome> {
  const reader = agent.reader(recorder);
  const lines = createLines((line) => {
    reader.read(line);
    const id = reader.session();
    if (id !== undefined) onSession(id);
    slice.afterStep();
  });
  const over = new AbortController();
  const timer = setInterval(() => {
    try {
      slice.beforeStep();
    } catch (error) {
      over.abort(error);
    }
  }, LOOK_MS);
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
    const answer = recorder.takeAnswer();
    if (ended?.success === true) return { success: true, summary: answer || ended.summary || "Done." };
    const why = exceeded || ended?.summary || answer || lines.noise() || "it gave no reason";
    return { success: false, summary: `The harness ${agent.type} ended with exit code ${exitCode}: ${why}` };
  } finally {
    clearInterval(timer);
    recorder.breakOff();
  }
}

/** Whether an earlier execution was at work on what is asked. */
const isBegun = (conversation: readonly Message[]): boolean =>
  conversation.at(-1)?.content.some(({ type }) => type === "action" || type === "action_result") ?? false;

/** What was said before, for an agent that was not there. */
function formatHistory(messages: readonly Message[]): string {
  const said = messages.flatMap(({ role, content }) =>
    content.flatMap((block) => {
      if (block.type === "text") return [`${role}: ${block.text}`];
      return block.type === "action" ? [`${role} did: ${block.name} ${JSON.stringify(block.input)}`] : [];
    }),
  );
  const text = cutBytesFromEnd(said.join("\n\n"), HISTORY_BYTES);
  return `This conversation began before you were part of it. What was said and done so far:\n\n<conversation>\n${text}\n</conversation>`;
}
