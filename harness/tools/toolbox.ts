import type { AgentWork } from "../engine/agent-context.ts";
import type { Tool } from "../engine/tool.ts";
import type { SkillEntry } from "../skills/skill-index.ts";
import { fileTools } from "./files.ts";
import { loadSkillTool } from "./load-skill.ts";
import { remoteTools } from "./remote/remote-tools.ts";
import { runCommandTool } from "./run-command.ts";
import { searchFilesTool } from "./search-files.ts";

export interface ToolboxOptions extends AgentWork {
  readonly skills: readonly SkillEntry[];
  /** Reads a skill of the list, by its id. */
  readonly loadSkill: (id: string) => Promise<string>;
}

export interface Toolbox {
  readonly tools: readonly Tool[];
  /** Ends what was started for them. */
  close(): Promise<void>;
}

/** All that a model may use: what works in the sandbox, and what speaks to the control plane and to servers of others. */
export async function createToolbox(options: ToolboxOptions): Promise<Toolbox> {
  const { shell, skills, loadSkill } = options;
  const remote = await remoteTools(options);
  const tools = [
    runCommandTool(shell),
    ...fileTools(options),
    searchFilesTool(shell),
    ...(skills.length === 0 ? [] : [loadSkillTool(skills, loadSkill)]),
    ...remote.tools,
  ];
  return { tools, close: () => remote.close() };
}
