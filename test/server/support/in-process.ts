import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { createAdminKey } from "#server/admin-key.ts";
import { type Adapters, createPorts, openAdapters, type ServerPorts } from "#server/ports.ts";
import { LocalWorkerSockets } from "#server/sockets/worker-sockets.ts";

export interface Installation {
  readonly directory: string;
  readonly adapters: Adapters;
  readonly ports: ServerPorts;
  readonly sockets: LocalWorkerSockets;
  /** Closes the database and removes the directory. */
  close(): Promise<void>;
}

/** Opens a new data directory, without a server on it and without anything that executes runs. */
export async function openInstallation({ maxDiskBytes }: { maxDiskBytes?: number } = {}): Promise<Installation> {
  const directory = mkdtempSync(path.join(tmpdir(), "runyard-installation-"));
  const adapters = await openAdapters(directory, maxDiskBytes);
  const sockets = new LocalWorkerSockets();
  const ports = createPorts(adapters, {
    ...{ webUrl: "http://127.0.0.1:4500", sockets, environment: {} },
    sandbox: { start: async () => undefined, stop: async () => true },
    scanner: { scan: () => Promise.reject(new Error("nothing is scanned here")) },
  });
  const close = async () => {
    await adapters.database.close();
    rmSync(directory, { recursive: true });
  };
  return { directory, adapters, ports, sockets, close };
}

export interface SocketServer extends Installation {
  readonly url: string;
  readonly key: string;
  readonly team: string;
}

/** Calls `use` with an installation whose worker sockets listen on their own port. */
export async function withSocketServer(use: (server: SocketServer) => Promise<void>): Promise<void> {
  const installation = await openInstallation();
  const { adapters, ports, sockets } = installation;
  const server = createServer();
  try {
    sockets.accept(server, ports, (host) => host?.startsWith("127.0.0.1:") === true);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    if (typeof address !== "object" || address === null) throw new Error("the server does not listen");
    const { api_key: key, team_uid: team } = await createAdminKey(adapters.database, adapters.table);
    await use({ ...installation, url: `ws://127.0.0.1:${address.port}/workers`, key, team });
  } finally {
    await sockets.end();
    await new Promise((resolve) => server.close(resolve));
    await installation.close();
  }
}
