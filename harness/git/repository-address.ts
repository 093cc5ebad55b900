import { createAddressCheck, resolveAllowed, toBlockedAddressError } from "../network/blocked-addresses.ts";
import type { GitOptions } from "./run-git.ts";

/** Runs may clone from Git servers on the machine and in its network. */
const ALLOWED = { loopback: true, privateNetworks: true };

/**
 * Checks the addresses of a repository's host, and makes git connect over https to the checked addresses only. With a proxy, the proxy
 * resolves names; for ssh, and after a redirect to another https server, git resolves the name itself.
 * @returns arguments of git that come before its subcommand
 * @throws an Error when the host has a blocked address or cannot be resolved
 */
export async function pinRepositoryAddress(
  url: string,
  { checkHost = () => {}, proxyUrl }: Pick<GitOptions, "checkHost" | "proxyUrl"> = {},
): Promise<readonly string[]> {
  const parsed = URL.parse(url);
  const host = parsed?.hostname.replace(/^\[(.*)\]$/, "$1") ?? /^[\w.-]+@([\w.-]+):/.exec(url)?.[1];
  // Git accepts more than URLs, such as IPv6 addresses with a zone, whose address could not be checked.
  if (host === undefined) throw new Error("the URL has no host that can be checked");
  // A file URL has no host, and git refuses other transports.
  if (host === "") return [];
  checkHost(host);
  const isAllowed = createAddressCheck(ALLOWED);
  if (process.getBuiltinModule("node:net").isIP(host) !== 0) {
    if (!isAllowed(host)) throw toBlockedAddressError(host);
    return [];
  }
  const isHttps = parsed?.protocol === "https:";
  if (isHttps && (proxyUrl !== undefined || hasProxy())) return [];
  const found = await resolveAllowed(host, isAllowed).catch((error: unknown) => {
    // The name may be an alias in the user's ssh configuration, which only ssh can resolve.
    if (!isHttps && error instanceof Error && "code" in error) return [];
    throw error;
  });
  if (!isHttps || found.length === 0) return [];
  const addresses = found.map(({ address, family }) => (family === 6 ? `[${address}]` : address));
  return ["-c", `http.curloptResolve=${host}:${parsed.port || "443"}:${addresses.join(",")}`];
}

const hasProxy = (): boolean => ["HTTPS_PROXY", "https_proxy"].some((name) => (process.env[name] ?? "") !== "");
