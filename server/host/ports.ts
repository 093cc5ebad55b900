import net from "node:net";
import { Problem } from "./terminal.ts";

/**
 * Says why a server could not listen on a port that was named explicitly.
 * @throws Problem, or `error` itself if it is about something else
 */
export function throwPortProblem(error: unknown, port: number, host: string): never {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "EADDRINUSE") {
    throw new Problem(`Port ${port} is in use on ${host}.`, [
      "End the program that uses it, name another port, or omit --port to use the next free one.",
    ]);
  }
  if (code === "EACCES") {
    throw new Problem(`This user may not listen on port ${port} of ${host}.`, [
      "Name a port above 1023 with --port, and let a proxy forward requests to it.",
    ]);
  }
  throw error;
}

/** The first free port from `first` upwards. */
export async function firstFreePort(first: number, host = "127.0.0.1"): Promise<number> {
  for (let port = first; port <= 65_535 && port < first + 200; port++) {
    if (await isFree(port, host)) return port;
  }
  throw new Problem(`No port from ${first} to ${first + 199} is free on ${host}.`, [
    "Check that it is an address of this machine.",
  ]);
}

export async function isFree(port: number, host = "127.0.0.1"): Promise<boolean> {
  // Some systems allow another listener on 127.0.0.1 next to one on all addresses, so both are tried.
  return (await canListen(port, host)) && (await canListen(port, undefined));
}

function canListen(port: number, host: string | undefined): Promise<boolean> {
  return new Promise((resolve) => {
    const server = net.createServer();
    server.once("error", () => resolve(false));
    server.listen({ port, ...(host === undefined ? {} : { host }) }, () => server.close(() => resolve(true)));
  });
}
