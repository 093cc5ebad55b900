import { existsSync } from "node:fs";
import { join } from "node:path";
import type { RunContext } from "../setup/run-context.ts";
import { ACP_AGENTS, type AcpAgent } from "./acp/agents.ts";
import type { CommandLineAgent, InstalledAgent } from "./agent.ts";
import { claude } from "./claude.ts";
import { codex } from "./codex.ts";
import { gemini } from "./gemini.ts";

/** A third-party agent: a row of the table, or the command that starts another agent of the Agent Client Protocol. */
export type ThirdPartyAgent = CommandLineAgent | AcpAgent | string;

/** All agents that come with the sandbox. Their `protocol` decides which engine drives them. */
export const AGENTS: readonly (CommandLineAgent | AcpAgent)[] = [claude, codex, gemini, ...ACP_AGENTS];

/** Finds the agent that a run's configuration requests; undefined for the default harness. */
export function findThirdPartyAgent(harness: RunContext["agent_config"]["harness"]): ThirdPartyAgent | undefined {
  const { type, agent: name = type, command } = harness ?? {};
  return command ?? AGENTS.find((agent) => agent.name === name);
}

/** The directory of the agents in the sandbox image. */
const INSTALLED = "/opt/runyard/agents";

/**
 * Finds the directory whose `node_modules` contains the agent: the one that `RUNYARD_AGENTS` names, or else that of the image or `image`
 * of a checkout. Returns undefined if the agent is not installed.
 */
export function findAgentFolder({ program }: Pick<InstalledAgent, "program">): string | undefined {
  const named = process.env["RUNYARD_AGENTS"];
  const folders = named === undefined ? [INSTALLED, join(import.meta.dirname, "../../image")] : [named];
  return folders.find((folder) => existsSync(join(folder, "node_modules", program)));
}

/** Describes how to install a missing agent, for the run's result. */
export const describeMissingAgent = (agent: Pick<InstalledAgent, "name" | "package">): string =>
  `The agent ${agent.name} is not installed in this run's sandbox: it needs the npm package ${agent.package}. ` +
  "In a checkout of Runyard, run `npm ci --prefix image`. Elsewhere, use the sandbox image of the service, or set RUNYARD_AGENTS to the directory whose node_modules contains the package.";
