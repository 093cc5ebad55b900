import type { RunContext } from "../../setup/run-context.ts";

/** Shorter values are ordinary settings, such as `true` or `eu-west`. */
const MIN_VALUE_LENGTH = 8;

/** Lists the values of MCP servers to redact: of variables and headers, and of a header also the part after its scheme. */
export function listServerSecrets(servers: RunContext["mcp_servers"] = {}): string[] {
  const values = Object.values(servers).flatMap(({ env = {}, headers = {} }) => [
    ...Object.values(env),
    ...Object.values(headers).flatMap((value) => [value, value.trim().split(/\s+/).at(-1) ?? value]),
  ]);
  return values.filter((value) => value.trim().length >= MIN_VALUE_LENGTH);
}
