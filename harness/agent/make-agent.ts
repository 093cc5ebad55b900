import { MAX_INSTRUCTION_FILES } from "#shared/wire/event.ts";
import type { ApprovalRule } from "#shared/wire/executions/approval.ts";
import type { AgentWork } from "../engine/agent-context.ts";
import type { Engine } from "../engine/engine.ts";
import type { Tool } from "../engine/tool.ts";
import {
  type InstructionFile,
  listFolders,
  readInstructions,
  toWorkspacePath,
} from "../instructions/instruction-files.ts";
import { addNestedInstructions } from "../instructions/nested-instructions.ts";
import { describeNetwork } from "../network/describe-network.ts";
import { listSkills, readSkill } from "../skills/skill-index.ts";
import { createToolbox } from "../tools/toolbox.ts";
import { createAgentEngine } from "./agent.ts";
import { writeBriefing } from "./briefing.ts";

/** Creates an agent with a language model and the tools that the run's mode allows. */
export async function makeAgent(modelId: string, work: AgentWork): Promise<Engine> {
  const { context, clones, host, sandbox, shell } = work;
  const { skills, unusable } = await listSkills(clones, host.workspace);
  const toolbox = await createToolbox({ ...work, skills, loadSkill: (id) => readSkill(id, clones, host.workspace) });
  const workspace = { host: host.workspace, seen: sandbox.paths.workspace };
  const initial = await readInitialInstructions(work);
  const nested = { initial, clones, workspace, shell, conversation: work.conversation };
  const approvals = context.agent_config.approvals ?? [];
  const all = addNestedInstructions(toolbox.tools, nested).map((tool) => withoutParallel(tool, approvals));
  const tools = context.mode === "plan" ? all.filter(({ readsOnly }) => readsOnly) : all;
  const systemPrompt = writeBriefing(
    {
      modelId,
      mode: context.mode,
      basePrompt: work.basePrompt,
      workspace: sandbox.paths.workspace,
      workingDirectory: shell.here,
      repositories: clones.map(({ owner, name, path }) => ({ name: `${owner}/${name}`, path })),
      attachments: context.attachments.map(({ filename }) => filename),
      skills,
      unusableSkills: unusable,
      instructions: initial,
      network: describeNetwork(work),
      image: describeImage(work),
      computerUse: context.agent_config.computer_use_enabled === true,
    },
    tools,
  );
  return {
    engine: createAgentEngine(modelId, systemPrompt, work),
    tools,
    instructionFiles: initial.map(({ path }) => path),
    unusableSkills: unusable,
    close: () => toolbox.close(),
  };
}

/** Describes the image in which commands run; undefined if there is none. */
function describeImage({ context, sandbox: { helpers, layer, shell } }: AgentWork): string | undefined {
  const { docker_image } = context;
  if (docker_image === undefined || helpers === undefined) return undefined;
  const files =
    layer === undefined
      ? "Its files are read-only except for the workspace, $HOME and /tmp, and only commands see the others."
      : "They can change all of its files, for example to install packages. Other tools see only the workspace, $HOME and /tmp.";
  const bash = shell === "sh" ? " It has no bash: commands run in sh." : "";
  return `Commands run in the image ${docker_image}. ${files}${bash}`;
}

/** A call that waits for an approval ends the turn, so no other one may run at the same time. */
const withoutParallel = (tool: Tool, approvals: readonly ApprovalRule[]): Tool =>
  approvals.some((rule) => rule.tool === (tool.via?.tool ?? tool).name) ? { ...tool, parallel: false } : tool;

/** Reads the instructions of each repository's root, and of the folders from there to the working directory. */
async function readInitialInstructions(work: AgentWork): Promise<InstructionFile[]> {
  const { clones, host, sandbox, workingDirectory, redactor } = work;
  const here = toWorkspacePath(workingDirectory, sandbox.paths.workspace);
  const folders = new Set([
    ...clones.map(({ path }) => path),
    ...(here === undefined ? [] : listFolders(here, clones)),
  ]);
  const files = await readInstructions(host.workspace, [...folders].slice(0, MAX_INSTRUCTION_FILES));
  return files.map(({ path, content }) => ({ path: redactor.text(path), content: redactor.text(content) }));
}
