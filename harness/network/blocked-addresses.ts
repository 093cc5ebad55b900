import type { LookupAddress, LookupOptions } from "node:dns";
import { networkInterfaces } from "node:os";
import { scopeOfAddress, toCanonicalAddress } from "#shared/wire/network/addresses.ts";

/** IPv4 addresses of cloud metadata services, which return credentials: most clouds, Azure, Alibaba and Oracle. */
export const METADATA = ["169.254.0.0/16", "168.63.129.16", "100.100.100.200", "192.0.0.192"] as const;

const LINK_LOCAL = /^(169\.254\.|fe[89ab])/i;

/** What the harness may call for a run besides the internet. */
export interface AllowedScopes {
  /** The machine's own services: its loopback, and the addresses that it has. */
  readonly loopback: boolean;
  /** Private networks: RFC 1918, carrier-grade NAT and IPv6 unique local addresses. */
  readonly privateNetworks: boolean;
}

/** Lists the current IPv4 addresses of the host except its loopback. */
export const listOwnAddresses = (): string[] => listHostAddresses("IPv4");

const listHostAddresses = (...versions: readonly string[]): string[] =>
  Object.values(networkInterfaces())
    .flatMap((all) => all ?? [])
    .filter((one) => versions.includes(one.family) && !one.internal)
    .map(({ address }) => address);

/** Creates the check for IPv4 and IPv6 addresses. Reads the host's own addresses once. */
export function createAddressCheck({ loopback, privateNetworks }: AllowedScopes): (address: string) => boolean {
  const own = listHostAddresses("IPv4", "IPv6").filter((address) => !LINK_LOCAL.test(address));
  const canonical = new Set(own.map(toCanonicalAddress));
  return (address) => {
    const scope = scopeOfAddress(address);
    // A host may have an address of a reserved range. Services on its own addresses count as loopback services.
    if (scope === "loopback" || canonical.has(toCanonicalAddress(address))) return loopback;
    if (scope === "never") return false;
    return scope === "public" || privateNetworks;
  };
}

/**
 * Resolves a host and checks each of its addresses. The caller must connect to an address of the result and not to the name, which
 * could resolve to another address later.
 * @throws an Error when any of the addresses is blocked, or there is none
 */
export async function resolveAllowed(
  host: string,
  isAllowed: (address: string) => boolean,
  options: LookupOptions = {},
): Promise<readonly LookupAddress[]> {
  const { promise, resolve, reject } = Promise.withResolvers<readonly LookupAddress[]>();
  // Not imported, since few executions need them and loading them takes milliseconds of each.
  const { isIP } = process.getBuiltinModule("node:net");
  const { lookup } = process.getBuiltinModule("node:dns");
  if (isIP(host) !== 0) resolve([{ address: host, family: isIP(host) }]);
  else lookup(host, { ...options, all: true }, (error, found) => (error === null ? resolve(found) : reject(error)));
  const found = await promise;
  if (found.length === 0 || !found.every(({ address }) => isAllowed(address))) throw toBlockedAddressError(host);
  return found;
}

export const toBlockedAddressError = (host: string) => new Error(`${host} is an address that runs may not call`);
