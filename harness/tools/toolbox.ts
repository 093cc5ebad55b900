import type { AgentWork } from "../engine/agent-context.ts";
import type { Tool } from "../engine/tool.ts";
import type { SkillEntry } from "../skills/skill-index.ts";
import { createBackgroundTools } from "./background-tools.ts";
import { createFileTools } from "./files.ts";
import { createGlobTool } from "./glob.ts";
import { createLoadSkillTool } from "./load-skill.ts";
import { createRemoteTools } from "./remote/remote-tools.ts";
import { createRunCommandTool } from "./run-command.ts";
import { createSearchFilesTool } from "./search-files.ts";
import { todoTool } from "./todo.ts";

export interface ToolboxOptions extends AgentWork {
  readonly skills: readonly SkillEntry[];
  /** Reads a skill of the list, by its id. */
  readonly loadSkill: (id: string) => Promise<string>;
}

export interface Toolbox {
  readonly tools: readonly Tool[];
  /** Ends what was started for the tools. */
  close(): Promise<void>;
}

/** Creates all tools of a model: those in the sandbox, and those that call the control plane and other servers. */
export async function createToolbox(options: ToolboxOptions): Promise<Toolbox> {
  const { shell, background, slice, skills, loadSkill } = options;
  const remote = await createRemoteTools(options);
  const tools = [
    createRunCommandTool(shell, background),
    ...createBackgroundTools(background, slice),
    ...createFileTools(options),
    createSearchFilesTool(shell),
    createGlobTool(shell),
    todoTool,
    ...(skills.length === 0 ? [] : [createLoadSkillTool(skills, loadSkill)]),
    ...remote.tools,
  ];
  return { tools, close: () => remote.close() };
}
