import { Problem } from "./host/terminal.ts";

/** Variables that permit something, each with the one value that does. */
const SWITCHES = {
  RUNYARD_MCP_LOOPBACK: "allow",
  RUNYARD_MCP_PRIVATE_NETWORKS: "allow",
  RUNYARD_OIDC_ALLOW_PRIVATE: "1",
  RUNYARD_WEBHOOKS_ALLOW_PRIVATE: "1",
} as const;

/** The values with which a variable permits nothing, as without it. */
const OFF: readonly (string | undefined)[] = [undefined, "", "0", "false"];

/** Whether an operator has permitted what the variable stands for. */
export const isPermitted = (environment: NodeJS.ProcessEnv, name: keyof typeof SWITCHES): boolean =>
  environment[name] === SWITCHES[name];

/** Refuses other values at the start, because the operator would take them for a permission. @throws Problem */
export function checkSwitches(environment: NodeJS.ProcessEnv): void {
  for (const [name, on] of Object.entries(SWITCHES)) {
    const value = environment[name];
    if (value === on || OFF.includes(value)) continue;
    throw new Problem(`${name} takes ${on}, or 0 for the default, not "${value}".`);
  }
}
