import { Lexer, marked, type Token } from "marked";
import { CONTINUE_MESSAGE } from "#shared/wire/harness.ts";
import type { CommandResult } from "../commands/command-runner.ts";
import type { AgentEngine } from "./engine.ts";

/**
 * The built-in default model, which needs no network and no key. It runs the fenced shell blocks of its instructions in order and
 * stops at the first that fails.
 */
export const runbook: AgentEngine = {
  async takeTurn({ instructions, commandsDone = 0, last }, tools) {
    if (last !== undefined && continuesOnly(instructions)) return last;
    const commands = instructions.flatMap(findShellBlocks);
    if (commands.length === 0) return { success: false, summary: NOTHING_TO_RUN, error_code: "invalid_request" };
    for (const [index, command] of commands.entries()) {
      if (index < commandsDone) continue;
      const result = await tools.runCommand({ command });
      if (result.exitCode === 0) continue;
      const step = commands.length === 1 ? "The command" : `Step ${index + 1} of ${commands.length}`;
      return {
        success: false,
        summary: `${step} failed: \`${takeFirstLine(result.command)}\` ${describeEnd(result)}.`,
      };
    }
    return { success: true, summary: commands.length === 1 ? "Ran one command." : `Ran ${commands.length} commands.` };
  },
};

/** The runbook in plan mode: lists the commands without running them. */
export const plannedRunbook: AgentEngine = {
  async takeTurn({ instructions, last }) {
    if (last !== undefined && continuesOnly(instructions)) return last;
    const commands = instructions.flatMap(findShellBlocks);
    if (commands.length === 0) return { success: false, summary: NOTHING_TO_RUN, error_code: "invalid_request" };
    const blocks = commands.map((command) => `\`\`\`sh\n${command}\n\`\`\``);
    return { success: true, summary: ["In normal mode these commands would run, in order:", ...blocks].join("\n\n") };
  },
};

/** Whether the user only wants the agent to go on: no command is left after a turn of the runbook, so its outcome remains. */
const continuesOnly = (instructions: readonly string[]): boolean =>
  instructions.every((text) => text === CONTINUE_MESSAGE);

/** The fenced blocks tagged sh, bash or shell, wherever they stand in a Markdown document. */
export function findShellBlocks(markdown: string): string[] {
  const blocks: string[] = [];
  // Code is found among the blocks. Parsing the text inside of them takes milliseconds of each execution.
  void marked.walkTokens(new Lexer().blockTokens(markdown.replace(/\r\n|\r/g, "\n")), (token: Token) => {
    // Nothing but fenced code has a language.
    const { lang, text }: { type: string; lang?: string; text?: string } = token;
    if (/^(sh|bash|shell)(\s|$)/i.test(String(lang)) && text?.trim()) blocks.push(text);
  });
  return blocks;
}

const NOTHING_TO_RUN =
  "Nothing to run: the model local/runbook only runs fenced code blocks tagged sh, bash or shell, and the prompt has none. " +
  "Add such a block, or name another model in config.model_id once a model provider is configured.";

/** The longest command in a summary. */
const MAX_LENGTH = 120;

function takeFirstLine(command: string): string {
  const lines = command.trim().split("\n");
  const line = lines.find((it) => it.trim() !== "" && !it.trim().startsWith("#")) ?? lines[0] ?? "";
  return line.length > MAX_LENGTH ? `${line.slice(0, MAX_LENGTH - 3)}...` : line;
}

function describeEnd(result: CommandResult): string {
  const code = `exit code ${result.exitCode}`;
  if (result.exceeded !== undefined) return `was ended: ${result.exceeded} (${code})`;
  if (result.timedOut) return `did not end within its ${Math.round(result.durationMs / 1000)} s (${code})`;
  return result.signal === undefined ? `ended with ${code}` : `was ended by ${result.signal} (${code})`;
}
