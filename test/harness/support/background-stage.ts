import { createBackgroundCommands } from "#harness/commands/background-commands.ts";
import type { EarlierCommand } from "#harness/commands/earlier-commands.ts";
import { createShell } from "#harness/commands/shell.ts";
import type { ToolResult } from "#harness/engine/tool.ts";
import type { Limits } from "#harness/isolation/limits.ts";
import { createWatch } from "#harness/isolation/resource-watch.ts";
import { createSlice } from "#harness/support/time-slice.ts";
import { createBackgroundTools } from "#harness/tools/background-tools.ts";
import { createRunCommandTool } from "#harness/tools/run-command.ts";
import { createStage } from "./command-stage.ts";

interface BackgroundGiven {
  readonly kind?: string;
  readonly earlier?: readonly EarlierCommand[];
  readonly limits?: Partial<Limits>;
}

/** The tools that run commands, as an agent with a language model has them. */
export async function createBackgroundStage({ kind = "bubblewrap", earlier = [], limits }: BackgroundGiven = {}) {
  const stage = await createStage(kind);
  const all = stage.options.sandbox.limits;
  const watch =
    all === undefined || limits === undefined
      ? undefined
      : createWatch({ limits: { ...all, ...limits }, folder: stage.host.workspace, everyMs: 20 });
  const background = createBackgroundCommands({ ...stage.options, watch, earlier });
  const slice = createSlice(undefined);
  const shell = createShell({ runner: stage.runner, workingDirectory: stage.workingDirectory, slice });
  const tools = [createRunCommandTool(shell, background), ...createBackgroundTools(background, slice)];
  const live: Buffer[] = [];
  const use = async (name: string, input: object): Promise<ToolResult> => {
    const tool = tools.find((one) => one.name === name);
    if (tool === undefined) throw new Error(`there is no tool ${name}`);
    return await tool.run(input, { id: "1", signal: stage.stop.signal, onOutput: (chunk) => void live.push(chunk) });
  };
  return {
    ...stage,
    background,
    use,
    /** What the tools showed while they were running. */
    live: () => Buffer.concat(live).toString(),
    start: (command: string, more: object = {}) => use("run_command", { command, background: true, ...more }),
    read: (input: object = {}) => use("read_command", { command_id: "background-1", ...input }),
    async [Symbol.asyncDispose]() {
      await background.close();
      await stage[Symbol.asyncDispose]();
    },
  };
}
