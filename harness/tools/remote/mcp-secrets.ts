import type { RunContext } from "../../setup/setup.ts";

/** Shorter values of servers are settings like any other word, such as `true` or `eu-west`. */
const MIN_VALUE_LENGTH = 8;

/** The values of MCP servers that nobody should see again: those of their variables and headers, of a header also what follows its scheme. */
export function listServerSecrets(servers: RunContext["mcp_servers"] = {}): string[] {
  const values = Object.values(servers).flatMap(({ env = {}, headers = {} }) => [
    ...Object.values(env),
    ...Object.values(headers).flatMap((value) => [value, value.trim().split(/\s+/).at(-1) ?? value]),
  ]);
  return values.filter((value) => value.trim().length >= MIN_VALUE_LENGTH);
}
