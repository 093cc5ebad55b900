import type { Message } from "#shared/wire/conversation.ts";
import type { TurnOutcome as ReportedOutcome } from "#shared/wire/executions/turn.ts";
import type { CommandResult } from "../commands/command-runner.ts";
import type { RunCommandInput } from "../commands/shell.ts";
import type { Tool, ToolResult } from "./tool.ts";

/** The id of the built-in default model, which belongs to no provider. */
export const RUNBOOK_MODEL = "local/runbook";

/** A model and its loop: given instructions and the conversation so far, it uses tools until it has a response. */
export interface AgentEngine {
  /**
   * @throws the reason of the execution's signal, which an engine must not catch
   */
  takeTurn(turn: Turn, tools: AgentTools): Promise<TurnOutcome>;
}

/** An engine, and the tools that its model may use. */
export interface Engine {
  readonly engine: AgentEngine;
  readonly tools: readonly Tool[];
  /** The files of repositories that instruct the agent from its start, relative to the workspace. */
  readonly instructionFiles?: readonly string[];
  /** Why skills of the repositories cannot be used. */
  readonly unusableSkills?: readonly string[];
  /** Ends what was started for the tools. Called once, after the last turn. */
  close(): Promise<void>;
}

export interface Turn {
  /** The instructions as Markdown documents: skills first, then the prompt; or one follow-up. Never empty. */
  readonly instructions: readonly string[];
  /** Shapes the agent's behaviour, besides the instructions. */
  readonly systemPrompt?: string;
  /** The conversation before this turn, and the part of this turn that an earlier execution completed. */
  readonly conversation: readonly Message[];
  /** How the turn before this one ended; absent for the first one. */
  readonly last?: TurnOutcome;
  /** Commands of this turn that an earlier execution completed; they are part of the conversation. @default 0 */
  readonly commandsDone?: number;
}

/** The tools of an engine. Each use is recorded in the conversation. */
export interface AgentTools {
  runCommand(input: RunCommandInput): Promise<CommandResult>;
  /** Starts a command in the background. Returns when it listens on a port or has ended, or after a while. */
  startCommand(command: string, tty?: boolean): Promise<ToolResult>;
  /** All tools that a model may use in this run. */
  readonly all: readonly Tool[];
  /**
   * Uses a tool, or the substitute for a tool that does not exist.
   * @throws Stop, SliceEnd and Interrupted; any other failure is returned as the result
   */
  use(tool: Tool, use: ToolUse): Promise<ToolResult>;
}

export interface ToolUse {
  /** Unique in the conversation. */
  readonly id: string;
  /** As the model sent it. */
  readonly input: unknown;
  /** The model's text before the call. */
  readonly said?: string;
}

/** How a turn ended. The summary is the agent's final message. */
export type TurnOutcome = ReportedOutcome;
