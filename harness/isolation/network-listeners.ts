import { spawn } from "node:child_process";
import { Socket as DatagramSocket } from "node:dgram";
import { Server } from "node:net";
import type { Network } from "./network.ts";

/** Sockets that listen in a network namespace, for this process outside of it. */
export interface Listeners {
  /** By port; on every address. */
  readonly servers: ReadonlyMap<number, Server>;
  readonly nameServer: DatagramSocket;
  close(): void;
}

const NAME_SERVER_PORT = 53;
const START_MS = 15_000;

/** A socket belongs to the namespace in which it was made, wherever the process is that uses it. */
const PROGRAM = `const { createServer } = require("node:net");
const { createSocket } = require("node:dgram");
for (const port of process.argv.slice(1).map(Number)) {
  const server = createServer();
  server.listen(port, "0.0.0.0", () => process.send(port, server));
}
const names = createSocket("udp4");
names.bind(${NAME_SERVER_PORT}, "0.0.0.0", () => process.send(${NAME_SERVER_PORT}, names));
process.on("disconnect", () => process.exit());
`;

/**
 * Listens at ports in a network namespace.
 * @param ports of TCP
 * @throws an Error when a program is missing or takes too long
 */
export async function openListeners({ enter }: Pick<Network, "enter">, ports: readonly number[]): Promise<Listeners> {
  const [file, ...args] = enter;
  const helper = spawn(file, [...args, process.execPath, "-e", PROGRAM, "--", ...ports.map(String)], {
    detached: true,
    env: { PATH: "/usr/bin:/bin" },
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  const servers = new Map<number, Server>();
  const names: DatagramSocket[] = [];
  const { promise, resolve, reject } = Promise.withResolvers<Listeners>();
  const close = () => {
    for (const socket of [...servers.values(), ...names]) socket.close();
  };
  const fail = () => reject(new Error("no socket could be opened in the network of commands"));
  const late = setTimeout(fail, START_MS);
  helper.once("exit", fail).once("error", fail);
  helper.on("message", (port: unknown, handle) => {
    if (handle instanceof Server) servers.set(Number(port), handle);
    else if (handle instanceof DatagramSocket) names.push(handle);
    const [nameServer] = names;
    if (servers.size === ports.length && nameServer !== undefined) resolve({ servers, nameServer, close });
  });
  try {
    return await promise;
  } catch (error) {
    close();
    throw error;
  } finally {
    clearTimeout(late);
    helper.kill("SIGKILL");
  }
}
