import { ssmClient } from "#shared/aws/clients.ts";
import { ssmParameter } from "#shared/aws/ssm-parameter.ts";
import type { HttpPorts } from "#shared/http/endpoint.ts";
import { hasTenants, setting } from "#shared/settings.ts";
import type { Github } from "#shared/skills/github-access.ts";
import type { DiscoveryPorts, SkillPorts } from "#shared/skills/skill-ports.ts";
import type { Table } from "#shared/table/table.ts";
import { createFiles, createFunctionCaller } from "#shared/wiring/adapters.ts";
import { createTable, createTablePorts } from "./common.ts";
import { createGithubApi, createGithubApp } from "./github.ts";

/** Milliseconds that a call of the discovery function may take, and a call of a sandbox that scans a repository. */
const DISCOVERY_MS = 25_000;
const SCAN_MS = 21_000;

/** The ports of the list of agents, which reads stored skills and calls another function to discover more. */
export function createSkillPorts(): SkillPorts & HttpPorts {
  const callFunction = createFunctionCaller();
  return {
    ...createTablePorts(),
    files: createFiles(),
    discovery: {
      async refresh({ url, ref, teams }) {
        const event = { v: 1, url, ...(ref === undefined ? {} : { ref }), teams };
        await callFunction(setting("DISCOVERY_FUNCTION_NAME"), event, { timeoutMs: DISCOVERY_MS });
      },
    },
  };
}

/** The ports of the function that discovers the skills of a repository. */
export function createDiscoveryPorts(): DiscoveryPorts {
  const callFunction = createFunctionCaller();
  const table = createTable();
  return {
    table,
    files: createFiles(),
    now: Date.now,
    github: createGithub(table),
    scanner: {
      scan: (request) =>
        callFunction(setting("SANDBOX_FUNCTION_NAME"), request, { timeoutMs: SCAN_MS, isolated: hasTenants() }),
    },
  };
}

function createGithub(table: Pick<Table, "batchGet">): Github {
  return {
    ...createGithubApi(),
    token: ssmParameter(ssmClient(), setting("GITHUB_TOKEN_PARAMETER"), Date.now),
    app: createGithubApp(table),
  };
}
