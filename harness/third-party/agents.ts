import { existsSync } from "node:fs";
import { join } from "node:path";
import type { AgentType, ThirdPartyAgent } from "./agent.ts";
import { claude } from "./claude.ts";
import { codex } from "./codex.ts";
import { gemini } from "./gemini.ts";

const AGENTS: Readonly<Record<AgentType, ThirdPartyAgent>> = { claude, codex, gemini };

/** Finds the agent that a run's configuration requests; undefined for the default harness. */
export function findThirdPartyAgent(type: string | undefined): ThirdPartyAgent | undefined {
  return Object.values(AGENTS).find((agent) => agent.type === type);
}

/** The directory of the agents in the sandbox image. */
const INSTALLED = "/opt/runyard/agents";

/**
 * Finds the directory whose `node_modules` contains the agent: the one that `RUNYARD_AGENTS` names, or else that of the image or `image`
 * of a checkout. Returns undefined if the agent is not installed.
 */
export function findAgentFolder({ program }: Pick<ThirdPartyAgent, "program">): string | undefined {
  const named = process.env["RUNYARD_AGENTS"];
  const folders = named === undefined ? [INSTALLED, join(import.meta.dirname, "../../image")] : [named];
  return folders.find((folder) => existsSync(join(folder, "node_modules", program)));
}

/** Describes how to install a missing agent, for the run's result. */
export const describeMissingAgent = (agent: string, { package: name }: Pick<ThirdPartyAgent, "package">): string =>
  `The ${agent} is not installed in this run's sandbox: it needs the npm package ${name}. ` +
  "In a checkout of Runyard, run `npm ci --prefix image`. Elsewhere, use the sandbox image of the service, or set RUNYARD_AGENTS to the directory whose node_modules contains the package.";
