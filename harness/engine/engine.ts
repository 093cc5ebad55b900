import type { Message } from "#shared/wire/conversation.ts";
import type { FinishTaskRequest } from "#shared/wire/harness.ts";
import type { CommandResult } from "../commands/command-runner.ts";
import type { RunCommandInput } from "../commands/shell.ts";
import type { Tool, ToolResult } from "./tool.ts";

/** The id of the embedded default model, which is none of a provider. */
export const RUNBOOK_MODEL = "local/runbook";

/** One model and its loop: given what is asked and what was said before, it works with tools until it has an answer. */
export interface AgentEngine {
  /**
   * @throws the stop of the execution, which the engine lets through
   */
  takeTurn(turn: Turn, tools: AgentTools): Promise<TurnOutcome>;
}

/** An engine, and the tools that its model may use. */
export interface Engine {
  readonly engine: AgentEngine;
  readonly tools: readonly Tool[];
  /** Ends what was started for them; called once, when the last turn has ended. */
  close(): Promise<void>;
}

export interface Turn {
  /** What is asked, as Markdown documents: skills first, then the prompt; or one follow-up. Never empty. */
  readonly instructions: readonly string[];
  /** What shapes the agent's behaviour, beside what is asked. */
  readonly systemPrompt?: string;
  /** The conversation before this turn, and what an earlier execution has done of it. */
  readonly conversation: readonly Message[];
  /** Commands of this turn that an earlier execution has carried out already; they are part of the conversation. @default 0 */
  readonly commandsDone?: number;
}

/** What an engine may do; each use is recorded in the conversation. */
export interface AgentTools {
  runCommand(input: RunCommandInput): Promise<CommandResult>;
  /** All that a model may use in this run. */
  readonly all: readonly Tool[];
  /**
   * Uses one of them, or what stands for a tool that does not exist.
   * @throws Stop, SliceEnd and Interrupted; what else goes wrong is the result
   */
  use(tool: Tool, use: ToolUse): Promise<ToolResult>;
}

export interface ToolUse {
  /** Unique in the conversation. */
  readonly id: string;
  /** As the model sent it. */
  readonly input: unknown;
  /** What the model said before it. */
  readonly said?: string;
}

/** How a turn ended; the summary is the agent's last word. */
export type TurnOutcome = FinishTaskRequest;
