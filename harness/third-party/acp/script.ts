import { chooseApi } from "../../agent/choose-api.ts";
import { quoteForShell } from "../../commands/shell-quote.ts";
import type { AgentWork } from "../../engine/agent-context.ts";
import { toModelName } from "../agent.ts";
import { buildRelayStart } from "../relay.ts";
import type { AcpAgent } from "./agents.ts";

/** Stands for the local port of the model APIs, which is known when the agent starts. */
const PORT = "{port}";

interface StartWork {
  readonly sandbox: Pick<AgentWork["sandbox"], "programs" | "node">;
  readonly context: Pick<AgentWork["context"], "model_apis">;
}

/** Builds the end of a script, which starts an agent that is installed, or a command. */
export function buildStart(agent: AcpAgent | string, modelId: string, work: StartWork): string {
  if (typeof agent === "string") return `exec bash -c ${quoteForShell(agent)}`;
  const { programs = "", node } = work.sandbox;
  const api = work.context.model_apis?.[modelId] ?? chooseApi(modelId);
  const url = `http://127.0.0.1:${PORT}${api === "messages" ? "/anthropic" : "/openai/v1"}`;
  const access = { api, url, model: toModelName(modelId) };
  const words = [
    ...(agent.needsNode ? [node] : []),
    `${programs}/node_modules/${agent.program}`,
    ...agent.args(access),
  ];
  const variables = Object.entries(agent.variables(access)).map(
    ([name, value]) => `export ${name}=${quoteForShell(value).replaceAll(PORT, `'"$port"'`)}`,
  );
  const files = Object.entries(agent.home ?? {}).flatMap(([path, text]) => {
    const file = `"$HOME"/${quoteForShell(path)}`;
    return [`mkdir -p "$(dirname ${file})"`, `printf %s ${quoteForShell(text)} > ${file}`];
  });
  return [...files, ...variables, `exec ${words.map(quoteForShell).join(" ")}`].join("\n");
}

/** Starts the agent with the access to its model, and with a home that checkpoints keep. */
export function buildScript(socket: string, start: string, modelId: string, { sandbox }: AgentWork): string {
  const { node, paths } = sandbox;
  const model = quoteForShell(toModelName(modelId));
  return [
    ...buildRelayStart(node, paths.steps, socket),
    `export HOME=${quoteForShell(`${paths.workspace}/.acp`)}`,
    'mkdir -p "$HOME"',
    // Agents read one of these sets of variables, by the API that they speak. The gateway chooses the model.
    `export OPENAI_BASE_URL="http://127.0.0.1:$port/openai/v1" OPENAI_API_KEY=runyard OPENAI_MODEL=${model}`,
    `export ANTHROPIC_BASE_URL="http://127.0.0.1:$port/anthropic" ANTHROPIC_API_KEY=runyard ANTHROPIC_MODEL=${model}`,
    `export GOOGLE_GEMINI_BASE_URL="http://127.0.0.1:$port/gemini" GEMINI_API_KEY=runyard GEMINI_MODEL=${model}`,
    start,
  ].join("\n");
}
