import { createServer, type Server } from "node:net";
import type { StoredNetwork } from "#shared/wire/network/stored-network.ts";
import { type Network, openClosedNetwork } from "../isolation/network.ts";
import { type Listeners, openListeners } from "../isolation/network-listeners.ts";
import type { LimitedNetwork } from "../isolation/sandbox.ts";
import { createAllowedDomains, toHostName, WEB_PORTS } from "../network/domains.ts";
import { createEgress, type Egress } from "../network/egress.ts";
import { createEgressProxy, type EgressProxy } from "../network/egress-proxy.ts";
import { answerQuery } from "../network/name-server.ts";
import type { RunContext } from "../setup/run-context.ts";
import { randomUUID } from "../support/lazy-crypto.ts";
import { Stop } from "../support/stop.ts";

/** The network of a run whose environment limits it. */
export interface RunNetwork {
  readonly egress: Egress;
  readonly limited: LimitedNetwork;
  close(): Promise<void>;
}

/** Opens the network that the environment of a run allows. @throws Stop when this host cannot keep it */
export const limitNetwork = async (
  network: StoredNetwork,
  repositories: NonNullable<RunContext["agent_config"]["repositories"]>,
): Promise<RunNetwork> =>
  network.mode === "none" ? await closeNetwork() : await openAllowed(network.domains ?? [], repositories);

/** Opens a network that leads nowhere. Where the host has none to share, each command gets its own. */
async function closeNetwork(): Promise<RunNetwork> {
  const network = await openClosedNetwork();
  return {
    egress: createEgress("none"),
    limited: { network, leadsOut: false, variables: {} },
    close: async () => await network?.close(),
  };
}

/** The address of every allowed name in the network of the commands; the range is for tests of networks, so no host has it. */
const NAMED_ADDRESS = [198, 18, 0, 1];
const PROXY = `http://127.0.0.1:${WEB_PORTS[0]}`;
const DIRECT = "localhost,127.0.0.1,::1,0.0.0.0,runyard";
/** Programs read the names in either form. */
const VARIABLES = Object.fromEntries(
  Object.entries({ HTTP_PROXY: PROXY, HTTPS_PROXY: PROXY, ALL_PROXY: PROXY, NO_PROXY: DIRECT }).flatMap(
    ([name, value]) => [
      [name, value],
      [name.toLowerCase(), value],
    ],
  ),
);

/** Opens a network whose every address leads to the proxy of this process, at the ports that the proxy serves. */
async function openAllowed(
  domains: readonly string[],
  repositories: Parameters<typeof limitNetwork>[1],
): Promise<RunNetwork> {
  const egress = createEgress("allowlist", createAllowedDomains(domains, repositories));
  const network = await openClosedNetwork([
    `address add ${NAMED_ADDRESS.join(".")}/32 dev lo`,
    "route add local 0.0.0.0/0 dev lo",
  ]);
  if (network === undefined) throw new Stop("unreachable", NO_NAMESPACE);
  const proxy = createEgressProxy({ egress, scopes: { loopback: false, privateNetworks: false } });
  try {
    const listeners = await serveCommands(network, proxy, egress);
    const own = await serveHarness(egress);
    return {
      egress: { ...egress, proxyUrl: own.url },
      limited: { network: { ...network, nameServer: "127.0.0.1" }, leadsOut: true, variables: VARIABLES },
      async close() {
        for (const each of [listeners, proxy, own]) each.close();
        await network.close();
      },
    };
  } catch (error) {
    await network.close();
    throw error;
  }
}

const NO_NAMESPACE =
  "the environment's network.mode is allowlist, and this machine has no network namespace for it: install util-linux and iproute2, or set network.mode to open";

async function serveCommands(network: Network, proxy: EgressProxy, egress: Egress): Promise<Listeners> {
  const listeners = await openListeners(network, WEB_PORTS);
  for (const [port, server] of listeners.servers) {
    server.on("connection", (socket) => proxy.accept(socket, { port, host: socket.localAddress }));
    keepHalfOpen(server).unref();
  }
  const { nameServer } = listeners;
  nameServer.on("message", (query, { address, port }) => {
    const answer = answerQuery(query, NAMED_ADDRESS, (name) => isAllowedName(name, egress));
    if (answer !== undefined) nameServer.send(answer, port, address);
  });
  nameServer.on("error", () => {}).unref();
  return listeners;
}

/** A client that has sent its request may end its half of the connection. */
const keepHalfOpen = (server: Server): Server => Object.assign(server, { allowHalfOpen: true });

function isAllowedName(name: string, { check }: Egress): boolean {
  const host = toHostName(name);
  // Names without a dot, and of addresses, are no hosts of the internet, and programs ask for them by themselves.
  if (host === undefined || !host.includes(".") || host.endsWith(".arpa")) return false;
  try {
    check(host);
    return true;
  } catch {
    return false;
  }
}

/** Opens a proxy for programs that the harness runs outside of the sandbox, on this machine's loopback. Runs may clone from private networks. */
async function serveHarness(egress: Egress): Promise<{ readonly url: string; close(): void }> {
  const password = randomUUID();
  const credential = Buffer.from(`runyard:${password}`).toString("base64");
  const scopes = { loopback: true, privateNetworks: true };
  const proxy = createEgressProxy({ egress, scopes, authorization: `Basic ${credential}` });
  const server = createServer({ allowHalfOpen: true }, (socket) => proxy.accept(socket, {}));
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.on("error", reject).listen(0, "127.0.0.1", resolve).unref();
  await promise;
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  const close = () => {
    server.close();
    proxy.close();
  };
  return { url: `http://runyard:${password}@127.0.0.1:${port}`, close };
}
