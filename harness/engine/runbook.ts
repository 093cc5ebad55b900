import { Lexer, marked, type Token } from "marked";
import { isTextBy, type Message } from "#shared/wire/conversation.ts";
import { CONTINUE_MESSAGE } from "#shared/wire/harness.ts";
import type { CommandResult } from "../commands/command-runner.ts";
import type { AgentWork } from "./agent-context.ts";
import { type DecidedCall, findDecidedCall, isDecision } from "./approvals.ts";
import type { AgentEngine, TurnOutcome } from "./engine.ts";
import { countCommands } from "./resume.ts";

/**
 * The built-in default model, which needs no network and no key. It runs the fenced shell blocks of its instructions in order and
 * stops at the first that fails.
 */
export const createRunbook = ({ opening, context }: Opened): AgentEngine => ({
  async takeTurn(turn, tools) {
    const decided = findDecidedCall(turn.conversation);
    const isAnswered = decided?.decision !== undefined && decided.call.tool === "run_command";
    if (isAnswered && decided.state !== "completed") return describeUncarried(decided);
    const openingAt = Math.max(0, context.messages.length - (context.own_messages ?? 0));
    const { instructions, commandsDone = 0 } = isAnswered
      ? findInterrupted(turn.conversation.slice(openingAt), opening)
      : turn;
    if (!isAnswered && turn.last !== undefined && continuesOnly(instructions)) return turn.last;
    const commands = instructions.flatMap(findShellBlocks);
    if (commands.length === 0) return { success: false, summary: NOTHING_TO_RUN, error_code: "invalid_request" };
    for (const [index, { command, isBackground, tty }] of commands.entries()) {
      if (index < commandsDone) continue;
      if (isBackground) {
        const { isError, output } = await tools.startCommand(command, tty);
        if (isError !== true) continue;
        return {
          success: false,
          summary: describeFailure(index, commands.length, command, `failed to start: ${describeStart(output)}`),
        };
      }
      const result = await tools.runCommand({ command, ...(tty ? { tty } : {}) });
      if (result.exitCode === 0) continue;
      return { success: false, summary: describeFailure(index, commands.length, result.command, describeEnd(result)) };
    }
    return { success: true, summary: commands.length === 1 ? "Ran one command." : `Ran ${commands.length} commands.` };
  },
});

type Opened = Pick<AgentWork, "opening"> & {
  readonly context: Pick<AgentWork["context"], "messages" | "own_messages">;
};

/** The instructions that waited for an approval, and how many of their commands are done. */
function findInterrupted(own: readonly Message[], opening: readonly string[]) {
  const at = own.findLastIndex((message) => isTextBy("user", message) && !isDecision(message));
  const instructions =
    at < 0 ? opening : own[at]?.content.flatMap((block) => (block.type === "text" ? [block.text] : []));
  return { instructions: instructions ?? [], commandsDone: countCommands(own.slice(at + 1)) };
}

function describeUncarried({ call, decision, message }: DecidedCall): TurnOutcome {
  const command = takeFirstLine(String(call.input["command"]));
  return decision?.approved === false
    ? { success: false, summary: `\`${command}\` was denied by ${decision.by}: ${message}` }
    : { success: false, summary: `The approved command failed: \`${command}\`.` };
}

/** The runbook in plan mode: lists the commands without running them. */
export const plannedRunbook: AgentEngine = {
  async takeTurn({ instructions, last }) {
    if (last !== undefined && continuesOnly(instructions)) return last;
    const commands = instructions.flatMap(findShellBlocks);
    if (commands.length === 0) return { success: false, summary: NOTHING_TO_RUN, error_code: "invalid_request" };
    const blocks = commands.map(
      ({ command, isBackground, tty }) =>
        `\`\`\`sh${isBackground ? " background" : ""}${tty ? " tty" : ""}\n${command}\n\`\`\``,
    );
    return { success: true, summary: ["In normal mode these commands would run, in order:", ...blocks].join("\n\n") };
  },
};

/** Whether the user only wants the agent to go on: no command is left after a turn of the runbook, so its outcome remains. */
const continuesOnly = (instructions: readonly string[]): boolean =>
  instructions.every((text) => text === CONTINUE_MESSAGE);

/** A command of a runbook. */
export interface ShellBlock {
  readonly command: string;
  /** Whether its tag has the word `background`: the next block starts while the command is running. */
  readonly isBackground: boolean;
  /** Whether its tag has the word `tty`: it runs at a pseudo-terminal. */
  readonly tty: boolean;
}

/** The fenced blocks tagged sh, bash or shell, wherever they stand in a Markdown document. */
export function findShellBlocks(markdown: string): ShellBlock[] {
  const blocks: ShellBlock[] = [];
  // Code is found among the blocks. Parsing the text inside of them takes milliseconds of each execution.
  void marked.walkTokens(new Lexer().blockTokens(markdown.replace(/\r\n|\r/g, "\n")), (token: Token) => {
    // Nothing but fenced code has a language.
    const { lang, text }: { type: string; lang?: string; text?: string } = token;
    const [tag = "", ...words] = String(lang).split(/\s+/);
    if (/^(sh|bash|shell)$/i.test(tag) && text?.trim())
      blocks.push({ command: text, isBackground: words.includes("background"), tty: words.includes("tty") });
  });
  return blocks;
}

const NOTHING_TO_RUN =
  "Nothing to run: the model local/runbook only runs fenced code blocks tagged sh, bash or shell, and the prompt has none. " +
  "Add such a block, or name another model in config.model_id once a model provider is configured.";

/** The longest command in a summary. */
const MAX_LENGTH = 120;

function describeFailure(index: number, count: number, command: string, how: string): string {
  const step = count === 1 ? "The command" : `Step ${index + 1} of ${count}`;
  // Which line of a script has failed is not known, and the first one often has not.
  const what = isScript(command) ? "the script that begins with " : "";
  return `${step} failed: ${what}\`${takeFirstLine(command)}\` ${how}.`;
}

/** Describes why a command in the background has ended already, or was not started. */
function describeStart({ exit_code, reason, error }: Readonly<Record<string, unknown>>): string {
  const why = error ?? reason;
  return typeof why === "string" ? why : `it ended with exit code ${exit_code}`;
}

const listLines = (command: string): readonly string[] =>
  command.split("\n").filter((line) => line.trim() !== "" && !line.trim().startsWith("#"));
const isScript = (command: string): boolean => listLines(command).length > 1;

function takeFirstLine(command: string): string {
  const line = listLines(command)[0] ?? command.trim().split("\n")[0] ?? "";
  return line.length > MAX_LENGTH ? `${line.slice(0, MAX_LENGTH - 3)}...` : line;
}

function describeEnd(result: CommandResult): string {
  const code = `exit code ${result.exitCode}`;
  if (result.exceeded !== undefined) return `was ended: ${result.exceeded} (${code})`;
  if (result.timedOut) return `did not end within its ${Math.round(result.durationMs / 1000)} s (${code})`;
  return result.signal === undefined ? `ended with ${code}` : `was ended by ${result.signal} (${code})`;
}
