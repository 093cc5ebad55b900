import { networkInterfaces } from "node:os";

/** Where clouds answer questions about the machine, its credentials among them: most of them, Azure, Alibaba and Oracle. */
export const METADATA = ["169.254.0.0/16", "168.63.129.16", "100.100.100.200", "192.0.0.192"] as const;

/** The IPv4 addresses that the host has now, besides its loopback: what it serves on them is for its neighbours. */
export function ownAddresses(): string[] {
  const addresses = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
  return addresses.filter(({ family, internal }) => family === "IPv4" && !internal).map(({ address }) => address);
}
