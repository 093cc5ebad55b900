import type { ImageRegistry } from "#shared/wire/providers/registry-settings.ts";
import { openClosedNetwork } from "../isolation/network.ts";
import { openListeners } from "../isolation/network-listeners.ts";
import { toHostName } from "../network/domains.ts";
import { createEgress } from "../network/egress.ts";
import { createEgressProxy } from "../network/egress-proxy.ts";
import { splitHost } from "../network/forward-request.ts";

/** A network from which one pull reaches registries. */
export interface RegistryNetwork {
  readonly enter: readonly [string, ...string[]];
  readonly variables: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

const PROXY_PORT = 80;
const HTTPS_PORT = 443;

/**
 * Opens a network that leads to a proxy of this process only, which refuses addresses of this machine and of private networks: a registry
 * names other hosts by itself, in redirects and for its tokens. One that the operator calls private is reached, and nothing else.
 */
export async function openRegistryNetwork(
  host: string,
  registry: Pick<ImageRegistry, "private"> | undefined,
): Promise<RegistryNetwork> {
  const isPrivate = registry?.private === true;
  const place = splitHost(host);
  const port = place.port || HTTPS_PORT;
  const network = await openClosedNetwork();
  if (network === undefined)
    throw new Error("this machine has no network namespace for it: install util-linux and iproute2");
  const egress = createEgress("open");
  const check = (name: string, called?: number) => {
    const isRegistry = name === toHostName(place.host) && (called === port || place.port === 0);
    if (isPrivate && !isRegistry) throw egress.refuse(name, "a private registry may not lead to another host");
  };
  const scopes = { loopback: isPrivate, privateNetworks: isPrivate };
  const proxy = createEgressProxy({ egress: { check, refuse: egress.refuse }, scopes });
  try {
    // Programs call the loopback without a proxy.
    const listeners = await openListeners(network, [...new Set([PROXY_PORT, ...(isPrivate ? [port] : [])])]);
    for (const [served, server] of listeners.servers) {
      server.on("connection", (socket) => proxy.accept(socket, { port: served, host: socket.localAddress }));
      Object.assign(server, { allowHalfOpen: true }).unref();
    }
    listeners.nameServer.on("error", () => {}).unref();
    const url = `http://127.0.0.1:${PROXY_PORT}`;
    return {
      enter: network.enter,
      variables: { HTTPS_PROXY: url, HTTP_PROXY: url },
      async close() {
        listeners.close();
        proxy.close();
        await network.close();
      },
    };
  } catch (error) {
    await network.close();
    throw error;
  }
}
