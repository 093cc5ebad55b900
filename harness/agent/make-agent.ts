import type { AgentWork } from "../engine/agent-context.ts";
import type { Engine } from "../engine/engine.ts";
import { listSkills, readSkill } from "../skills/skill-index.ts";
import { createToolbox } from "../tools/toolbox.ts";
import { createAgentEngine } from "./agent.ts";
import { writeBriefing } from "./briefing.ts";

/** Creates an agent with a language model and the tools that the run's mode allows. */
export async function makeAgent(modelId: string, work: AgentWork): Promise<Engine> {
  const { context, clones, host, sandbox, shell } = work;
  const skills = await listSkills(clones, host.workspace);
  const toolbox = await createToolbox({ ...work, skills, loadSkill: (id) => readSkill(id, clones, host.workspace) });
  const all = toolbox.tools;
  const tools = context.mode === "plan" ? all.filter(({ readsOnly }) => readsOnly) : all;
  const systemPrompt = writeBriefing(
    {
      mode: context.mode,
      basePrompt: work.basePrompt,
      workspace: sandbox.paths.workspace,
      workingDirectory: shell.here,
      repositories: clones.map(({ owner, name, path }) => ({ name: `${owner}/${name}`, path })),
      attachments: context.attachments.map(({ filename }) => filename),
      skills,
      network: sandbox.network,
      computerUse: context.agent_config.computer_use_enabled === true,
    },
    tools,
  );
  return { engine: createAgentEngine(modelId, systemPrompt, work), tools, close: () => toolbox.close() };
}
