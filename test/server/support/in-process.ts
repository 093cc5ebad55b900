import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { createAdminKey } from "#server/admin-key.ts";
import { type Adapters, createPorts, openAdapters, type ServerPorts } from "#server/ports.ts";
import { LocalWorkerSockets } from "#server/sockets/worker-sockets.ts";

export interface SocketServer {
  readonly url: string;
  readonly key: string;
  readonly team: string;
  readonly ports: ServerPorts;
  readonly adapters: Adapters;
  readonly sockets: LocalWorkerSockets;
}

/** Calls `use` with a data directory, and the sockets of workers on a port of their own. */
export async function withSocketServer(use: (server: SocketServer) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(path.join(tmpdir(), "runyard-sockets-"));
  const adapters = await openAdapters(directory);
  const sockets = new LocalWorkerSockets();
  const server = createServer();
  try {
    const ports = createPorts(adapters, {
      ...{ webUrl: "http://127.0.0.1", sockets, environment: {} },
      sandbox: { start: async () => undefined, stop: async () => true },
      scanner: { scan: () => Promise.reject(new Error("nothing is scanned here")) },
    });
    sockets.accept(server, ports, (host) => host?.startsWith("127.0.0.1:") === true);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    if (typeof address !== "object" || address === null) throw new Error("the server does not listen");
    const { api_key: key, team_uid: team } = await createAdminKey(adapters.database, adapters.table);
    await use({ url: `ws://127.0.0.1:${address.port}/workers`, key, team, ports, adapters, sockets });
  } finally {
    await sockets.end();
    await new Promise((resolve) => server.close(resolve));
    await adapters.database.close();
    rmSync(directory, { recursive: true });
  }
}
