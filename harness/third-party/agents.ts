import { existsSync } from "node:fs";
import { join } from "node:path";
import type { AgentType, ThirdPartyAgent } from "./agent.ts";
import { claude } from "./claude.ts";
import { codex } from "./codex.ts";
import { gemini } from "./gemini.ts";

const AGENTS: Readonly<Record<AgentType, ThirdPartyAgent>> = { claude, codex, gemini };

/** The agent that a run's configuration asks for; undefined for this project's own. */
export function findThirdPartyAgent(type: string | undefined): ThirdPartyAgent | undefined {
  return Object.values(AGENTS).find((agent) => agent.type === type);
}

/** Where the image of the sandbox has them. */
const INSTALLED = "/opt/runyard/agents";

/**
 * The directory whose `node_modules` the agents are in: the one that `RUNYARD_AGENTS` names; else that of the image, or
 * `image` of a checkout. Undefined where this agent is not there.
 */
export function findAgentFolder({ program }: ThirdPartyAgent): string | undefined {
  const named = process.env["RUNYARD_AGENTS"];
  const folders = named === undefined ? [INSTALLED, join(import.meta.dirname, "../../image")] : [named];
  return folders.find((folder) => existsSync(join(folder, "node_modules", program)));
}

/** What the run of a missing agent ends with. */
export const describeMissingAgent = ({ type, package: name }: ThirdPartyAgent): string =>
  `The harness ${type} is not installed where this run was executed: it needs the npm package ${name}. ` +
  "In a checkout of Runyard `npm ci --prefix image` installs it; elsewhere the sandbox needs the image of the service, or RUNYARD_AGENTS naming the directory that has it in its node_modules.";
