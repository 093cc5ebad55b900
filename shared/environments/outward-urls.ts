import { invalid } from "#shared/errors.ts";
import type { AmbientAgentConfig, Repository } from "#shared/wire/config.ts";
import { namesBlockedAddress } from "#shared/wire/network/addresses.ts";

const BLOCKED_ADDRESS = "must not name a link-local, cloud metadata or reserved address";

/**
 * Refuses addresses that no request of a run may go to. Names are checked by the harness when it connects, since what they resolve to may change.
 * `path` is the field that has the map of servers.
 */
export function refuseBlockedServers(servers: AmbientAgentConfig["mcp_servers"] | null, path: string): void {
  for (const [name, { url }] of Object.entries(servers ?? {})) {
    if (url !== undefined && namesBlockedAddress(url)) throw invalid(`${path}.${name}.url`, BLOCKED_ADDRESS);
  }
}

/** As `refuseBlockedServers`, for repositories. */
export function refuseBlockedRepositories(repositories: readonly Repository[] | null | undefined, path: string): void {
  const index = repositories?.findIndex(({ url }) => namesBlockedAddress(url)) ?? -1;
  if (index >= 0) throw invalid(`${path}[${index}].url`, BLOCKED_ADDRESS);
}
