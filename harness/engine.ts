import type { Message } from "#shared/wire/conversation.ts";
import type { FinishTaskRequest } from "#shared/wire/harness.ts";
import type { CommandResult } from "./commands.ts";

/** One model and its loop: given what is asked and what was said before, it works with tools until it has an answer. */
export interface AgentEngine {
  /**
   * @throws the stop of the execution, which the engine lets through
   */
  takeTurn(turn: Turn, tools: AgentTools): Promise<TurnOutcome>;
}

export interface Turn {
  /** What is asked, as Markdown documents: skills first, then the prompt; or one follow-up. Never empty. */
  readonly instructions: readonly string[];
  /** What shapes the agent's behaviour, beside what is asked. */
  readonly systemPrompt?: string;
  /** The conversation before this turn. */
  readonly conversation: readonly Message[];
  /** Commands of this turn that an earlier execution has carried out already; they are part of the conversation. @default 0 */
  readonly commandsDone?: number;
}

/** What an engine may do; each use is recorded in the conversation. */
export interface AgentTools {
  runCommand(input: RunCommandInput): Promise<CommandResult>;
}

export interface RunCommandInput {
  /** Run by bash with -eo pipefail. */
  readonly command: string;
  /** @default where the command before ended */
  readonly workingDirectory?: string;
  /** @default 600, and never more than the execution has left */
  readonly timeoutSeconds?: number;
}

/** How a turn ended; the summary is the agent's last word. */
export type TurnOutcome = FinishTaskRequest;
