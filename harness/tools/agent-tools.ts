import type { Message } from "#shared/wire/conversation.ts";
import type { ApprovalRule } from "#shared/wire/executions/approval.ts";
import type { BackgroundCommands } from "../commands/background-commands.ts";
import { DEFAULT_TIMEOUT_SECONDS, type Shell } from "../commands/shell.ts";
import { findDecidedCall, TurnEnd } from "../engine/approvals.ts";
import type { AgentTools, ToolUse } from "../engine/engine.ts";
import type { Tool, ToolResult } from "../engine/tool.ts";
import type { Redactor } from "../redaction/redactor.ts";
import type { LiveOutput } from "../reporting/live-output.ts";
import type { Outbox } from "../reporting/outbox.ts";
import { describeEnd } from "../steps/step-summary.ts";
import { formatTitle } from "../steps/step-title.ts";
import { randomUUID } from "../support/lazy-crypto.ts";
import { formatError, Interrupted, Stop } from "../support/stop.ts";
import { cutBytes, toWellFormed } from "../support/text-limits.ts";
import { type Slice, SliceEnd } from "../support/time-slice.ts";
import { truncate } from "../support/truncate.ts";
import type { AskedUse } from "./approval-request.ts";
import { READ_COMMAND, readBackground } from "./background-output.ts";
import { toCommandOutput } from "./command-output.ts";
import type { ReportEnd } from "./decided-call.ts";

export interface ToolOptions {
  readonly shell: Shell;
  readonly background: BackgroundCommands;
  readonly outbox: Outbox;
  readonly live: Pick<LiveOutput, "open">;
  readonly redactor: Redactor;
  readonly slice: Slice;
  /** Aborted when the execution stops. */
  readonly signal: AbortSignal;
  /** Aborted when the current turn is interrupted. */
  readonly turn: () => AbortSignal;
  /** The tools that the model may use. */
  readonly tools: readonly Tool[];
  /** Called between two uses, when no tool is running. */
  readonly onStep: () => Promise<void>;
  /** Which calls wait for an approval, and the path of the workspace as commands see it. @default none do */
  readonly approvals?: { readonly rules: readonly ApprovalRule[]; readonly workspace: string };
}

/** The tools of an agent, and what its session does with them. */
export interface SessionTools extends AgentTools {
  /** Records what background commands have printed since their output was last read. */
  reportBackground(): void;
  /**
   * Carries out the call that was approved, or records that it was not.
   * @param saveStart saves that the call begins, so that no execution begins it again
   */
  settleDecided(conversation: readonly Message[], saveStart: () => Promise<unknown>): Promise<void>;
}

/** The most of a command that the conversation shows. */
const SHOWN_BYTES = 32 * 1024;
/** The most of a tool's input, of its output, and of the text before it, that the conversation keeps. */
const KEPT_BYTES = 64 * 1024;
const NAME_CHARACTERS = 128;
/** An agent that cannot wait for a port itself continues when the command listens, ends, or has had this time. */
const UNATTENDED_SETTLE_MS = 30_000;

const RUN_COMMAND = { name: "run_command", category: "command" } as const;

type Kind = Pick<Tool, "name" | "category">;

/** Creates the tools of an agent. The conversation shows each use when it starts and its result when it ends. */
export function createTools(options: ToolOptions): SessionTools {
  const { shell, background, outbox, live, redactor, slice, turn, signal, tools, onStep, approvals } = options;

  const begin = createRecorder(outbox);
  const rules = approvals?.rules ?? [];
  const findRefusal = async (tool: Kind, use: AskedUse): Promise<string | undefined> => {
    if (rules.length === 0) return undefined;
    // Few runs have rules.
    const { requestApproval } = await import("./approval-request.ts");
    return requestApproval(tool, use, { rules, shell, redactor, begin });
  };
  const carryOut = createCarrier(options);
  let running = 0;
  const agentTools: SessionTools = {
    all: tools,
    async settleDecided(conversation, saveStart) {
      if (findDecidedCall(conversation) === undefined) return;
      const { settleDecidedCall } = await import("./decided-call.ts");
      const { workspace = "" } = approvals ?? {};
      const report = createReporter(outbox);
      await settleDecidedCall(conversation, { tools, shell, background, workspace, saveStart, report, carryOut });
    },
    async startCommand(command, tty = false) {
      // Schemas of tools take milliseconds to load.
      const { createRunCommandTool } = await import("./run-command.ts");
      const tool = createRunCommandTool(shell, background, UNATTENDED_SETTLE_MS);
      return await agentTools.use(tool, {
        id: randomUUID(),
        input: { command, background: true, ...(tty ? { tty } : {}) },
      });
    },
    reportBackground: () => reportNews(options, begin),
    async runCommand(options) {
      const { command, workingDirectory = shell.here, timeoutSeconds = DEFAULT_TIMEOUT_SECONDS, tty = false } = options;
      slice.beforeStep(timeoutSeconds * 1000);
      const id = randomUUID();
      const terminal = tty ? { tty } : {};
      const asked = { command, working_directory: workingDirectory, timeout_seconds: timeoutSeconds, ...terminal };
      const refused = await findRefusal(RUN_COMMAND, { id, input: asked });
      if (refused !== undefined) throw new TurnEnd({ success: false, summary: `A command was not run: ${refused}.` });
      const output = live.open(id);
      const running = shell
        .run({ command, workingDirectory, timeoutSeconds, ...terminal, onOutput: output.push }, turn())
        .finally(output.end);
      const input = { working_directory: workingDirectory, timeout_seconds: timeoutSeconds, ...terminal };
      const reportEnd = begin(id, RUN_COMMAND, {
        command: truncateCommand(redactor.text(command)),
        ...input,
      });
      try {
        const result = await running;
        reportEnd(result.exitCode === 0 ? "completed" : "failed", toCommandOutput(result));
        slice.afterStep();
        await onStep();
        return result;
      } catch (error) {
        if (error instanceof Interrupted) reportEnd("failed", { interrupted: true });
        throw error;
      }
    },
    async use(tool, { id, input, said }) {
      slice.beforeStep();
      AbortSignal.any([turn(), signal]).throwIfAborted();
      const refused = await findRefusal(tool, { id, input, said });
      const reportEnd = begin(id, tool, truncate(redactor.json(input), KEPT_BYTES), said);
      if (refused !== undefined) {
        reportEnd("failed", { error: refused });
        return { isError: true, output: { error: refused } };
      }
      running++;
      const result = await carryOut(tool, { id, input }, reportEnd).finally(() => running--);
      if (result.ends === undefined && running === 0) await onStep();
      return result;
    },
  };
  return agentTools;
}

function reportNews({ background, redactor }: ToolOptions, begin: ReturnType<typeof createRecorder>): void {
  for (const command of background.list().filter(({ hasNews }) => hasNews)) {
    const reportEnd = begin(randomUUID(), READ_COMMAND, { command_id: command.id });
    reportEnd("completed", toOutput(redactor.json(readBackground(command))));
  }
}

/** Returns a function that runs a tool and records its result. */
function createCarrier({ live, redactor, slice, turn, signal }: ToolOptions) {
  return async (tool: Tool, { id, input }: ToolUse, reportEnd: ReportEnd): Promise<ToolResult> => {
    const ended = AbortSignal.any([turn(), signal]);
    ended.throwIfAborted();
    const liveOutput = live.open(id);
    const running = tool.run(input, { id, signal: ended, onOutput: liveOutput.push }).finally(liveOutput.end);
    const result = await running.catch((error: unknown): ToolResult => {
      const reason: unknown = ended.aborted ? ended.reason : error;
      if (reason instanceof Interrupted) reportEnd("failed", { interrupted: true });
      if (isEnd(reason)) throw reason;
      return { isError: true, output: { error: formatError(reason) } };
    });
    const output = toOutput(redactor.json(result.output));
    reportEnd(result.isError === true ? "failed" : "completed", output, result.diff);
    slice.afterStep();
    return { ...result, output };
  };
}

/** Returns a function that records the start of an action, and returns one that records its result. */
function createRecorder(outbox: Outbox) {
  const createReport = createReporter(outbox);
  return (id: string, tool: Kind, input: unknown, said = "") => {
    const kind = describeKind(tool, input);
    const action = { type: "action" as const, id, ...kind, input };
    const text = { type: "text" as const, text: cutBytes(toWellFormed(said), KEPT_BYTES) };
    outbox.message({ role: "assistant", content: said.trim() === "" ? [action] : [text, action] });
    return createReport(id, tool, input);
  };
}

function describeKind({ name, category }: Kind, input: unknown) {
  const known = { category, name: toWellFormed(name).slice(0, NAME_CHARACTERS) || "unnamed" };
  return { ...known, title: formatTitle(known.name, input) };
}

/** Returns a function that returns one which records the results of an action. */
function createReporter(outbox: Outbox) {
  return (id: string, tool: Kind, input: unknown): ReportEnd => {
    const kind = describeKind(tool, input);
    return (state, output, diff) => {
      const isEnded = state === "completed" || state === "failed";
      const summary = isEnded ? describeEnd(kind.name, state, output, diff) : {};
      outbox.message({
        role: "tool",
        content: [{ type: "action_result", action_id: id, ...kind, ...summary, state, output }],
      });
    };
  };
}

const isEnd = (error: unknown): boolean =>
  error instanceof Stop || error instanceof SliceEnd || error instanceof Interrupted;

function toOutput(output: unknown): Record<string, unknown> {
  const value = truncate(output, KEPT_BYTES);
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : { text: value };
}

function truncateCommand(command: string): string {
  const start = cutBytes(toWellFormed(command), SHOWN_BYTES);
  return start.length < command.length ? `${start}\n[... truncated; the full command was run ...]` : start;
}
