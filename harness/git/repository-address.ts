import { isIP } from "node:net";
import { createAddressCheck, resolveAllowed, toBlockedAddressError } from "../network/blocked-addresses.ts";

/** Git servers in the machine's own network, and on the machine, are for runs to clone from. */
const ALLOWED = { loopback: true, privateNetworks: true };

/**
 * Checks where a repository's URL leads, as outward requests are checked, and has git connect over https to the addresses that were checked. Where a proxy is
 * set, the proxy resolves names; of ssh, and of a redirect to another https server, git looks the name up itself.
 * @returns arguments of git that come before its subcommand
 * @throws an Error where the host has a blocked address, or cannot be resolved
 */
export async function pinRepositoryAddress(url: string): Promise<readonly string[]> {
  const parsed = URL.parse(url);
  const host = parsed?.hostname.replace(/^\[(.*)\]$/, "$1") ?? /^[\w.-]+@([\w.-]+):/.exec(url)?.[1] ?? "";
  // A file's URL has no host, and other transports git refuses.
  if (host === "") return [];
  const isAllowed = createAddressCheck(ALLOWED);
  if (isIP(host) !== 0) {
    if (!isAllowed(host)) throw toBlockedAddressError(host);
    return [];
  }
  const isHttps = parsed?.protocol === "https:";
  if (isHttps && hasProxy()) return [];
  const found = await resolveAllowed(host, isAllowed).catch((error: unknown) => {
    // A name that only the user's ssh configuration knows is for ssh to resolve.
    if (!isHttps && error instanceof Error && "code" in error) return [];
    throw error;
  });
  if (!isHttps || found.length === 0) return [];
  const addresses = found.map(({ address, family }) => (family === 6 ? `[${address}]` : address));
  return ["-c", `http.curloptResolve=${host}:${parsed.port || "443"}:${addresses.join(",")}`];
}

const hasProxy = (): boolean => ["HTTPS_PROXY", "https_proxy"].some((name) => (process.env[name] ?? "") !== "");
