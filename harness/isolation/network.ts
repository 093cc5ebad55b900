import { spawn } from "node:child_process";
import { listOwnAddresses, METADATA } from "../network/blocked-addresses.ts";
import { holdNamespaces, type Namespaces, waitForOutput } from "./namespaces.ts";
import { findProgram } from "./programs.ts";

/** A network namespace that the commands of one execution share. */
export interface Network {
  /** Where commands ask for the addresses of names. @default they cannot */
  readonly nameServer?: string;
  /** Program and arguments that run a command inside the namespace. */
  readonly enter: readonly [string, ...string[]];
  /** Whether internet access works; it takes a few milliseconds longer than the namespace. */
  readonly opened: Promise<boolean>;
  close(): Promise<void>;
}

/** The name server of slirp4netns, which forwards to those of the host. */
const NAME_SERVER = "10.0.2.3";

/** Addresses that slirp4netns itself uses. */
const SLIRP_ADDRESSES = ["10.0.2.2", NAME_SERVER, "10.0.2.100"];

/**
 * Creates a network namespace with internet access through slirp4netns. It cannot reach the host's loopback, where services of other runs
 * listen, the current addresses of the host, or cloud metadata; it can reach other machines in the host's network. It has no IPv6. Commands
 * cannot change it, because it belongs to a user namespace above theirs.
 * @returns undefined if the host lacks a program for it or forbids it; commands then have no network
 */
export async function openNetwork(): Promise<Network | undefined> {
  const slirp = findProgram("slirp4netns");
  if (slirp === undefined) return undefined;
  const forbidden = [...METADATA, ...listOwnAddresses().filter((address) => !SLIRP_ADDRESSES.includes(address))];
  const namespaces = await openNamespaces(forbidden.map((address) => `route add prohibit ${address}`));
  if (namespaces === undefined) return undefined;
  const { pid, enter, started, close } = namespaces;
  try {
    const options = ["--configure", "--mtu=65520", "--disable-host-loopback", "--enable-sandbox"];
    const descriptors = ["--ready-fd=3", "--exit-fd=4", `--userns-path=/proc/${pid}/ns/user`];
    const way = spawn(slirp, [...options, ...descriptors, pid, "tap0"], {
      detached: true,
      env: { PATH: "/usr/bin:/bin" },
      stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"],
    });
    started.push(way);
    const opened = waitForOutput(way, 3).then(
      () => true,
      () => false,
    );
    return { nameServer: NAME_SERVER, enter, opened, close };
  } catch {
    await close();
    return undefined;
  }
}

/**
 * Creates a network namespace that has only a loopback of its own.
 * @param commands of `ip` that configure it further. @default none
 * @returns undefined like `openNetwork`
 */
export async function openClosedNetwork(commands: readonly string[] = []): Promise<Network | undefined> {
  const namespaces = await openNamespaces(["link set lo up", ...commands]);
  if (namespaces === undefined) return undefined;
  const { enter, close } = namespaces;
  return { enter, opened: Promise.resolve(true), close };
}

/**
 * Creates a network namespace in a user namespace of its own, with a process that holds both.
 * @param commands of `ip` that configure it
 */
async function openNamespaces(commands: readonly string[]): Promise<Namespaces | undefined> {
  const [unshare, ip] = ["unshare", "ip"].map(findProgram);
  if (unshare === undefined || ip === undefined) return undefined;
  const script = `'${ip}' -batch - <<'batch' && echo made && read -r end\n${commands.map((one) => `${one}\n`).join("")}batch\n`;
  const command = [unshare, "--user", "--map-root-user", "--net", "/bin/sh", "-c", script] as const;
  return await holdNamespaces(command, ["user", "net"]).catch(() => undefined);
}
