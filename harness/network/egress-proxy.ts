import { createServer } from "node:http";
import { connect, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { type AllowedScopes, createAddressCheck, resolveAllowed } from "./blocked-addresses.ts";
import { toHostName } from "./domains.ts";
import type { Egress } from "./egress.ts";
import {
  forwardRequest,
  forwardUpgrade,
  isWebSocket,
  Refusal,
  readTarget,
  refuseConnection,
  refuseRequest,
  splitHost,
} from "./forward-request.ts";
import { relay } from "./relay-connection.ts";
import { readServerName, TLS_HANDSHAKE } from "./server-name.ts";

export interface EgressProxyOptions {
  readonly egress: Pick<Egress, "check" | "refuse">;
  /** Where allowed names may lead besides the internet. */
  readonly scopes: AllowedScopes;
  /** What clients must send as `Proxy-Authorization`. @default nothing, where only commands of the run reach the proxy */
  readonly authorization?: string;
}

/** Connects clients with the hosts that they may call. */
export interface EgressProxy {
  /** Serves a connection. */
  accept(socket: Socket, origin: Origin): void;
  /** Ends all connections. */
  close(): void;
}

/** What is known about a connection before its first bytes. */
interface Origin {
  /** The port that the client called, where it may know no proxy. */
  readonly port?: number | undefined;
  /** The host that it named in CONNECT, or the address that it called. */
  readonly host?: string | undefined;
}

const MAX_CONNECTIONS = 512;
/** How long the first bytes may take, which show whom the client calls. */
const GREETING_MS = 30_000;
const CONNECT_MS = 30_000;
/** A fatal alert of TLS, unrecognized_name. */
const UNRECOGNIZED_NAME = Buffer.from([0x15, 3, 1, 0, 2, 2, 112]);

/**
 * Creates a proxy that decides by the name in the connection itself: the server name of TLS, or the host of each HTTP request. It resolves
 * that name itself and never connects to the address that the client chose. Clients that know no proxy are served like those that send
 * CONNECT or whole URLs.
 */
export function createEgressProxy({ egress, scopes, authorization }: EgressProxyOptions): EgressProxy {
  const origins = new WeakMap<Duplex, Origin>();
  const connections = new Set<Duplex>();
  const track = (socket: Socket) => {
    connections.add(socket);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => connections.delete(socket));
  };
  const dial = limitOpen(createDialer(egress, scopes, track));
  const serveTls = async (socket: Duplex, name: string | undefined): Promise<void> => {
    const { host, port = 0 } = origins.get(socket) ?? {};
    try {
      relay(socket, await dial(name ?? host ?? "", port));
    } catch {
      socket.end(UNRECOGNIZED_NAME);
    }
  };
  const authorize = (received: string | undefined) => {
    if (authorization !== undefined && received !== authorization)
      throw new Refusal(407, "the proxy needs credentials", { "proxy-authenticate": "Basic" });
  };

  const http = createServer({ shouldUpgradeCallback: isWebSocket }, (request, response) => {
    const forward = async () => {
      authorize(request.headers["proxy-authorization"]);
      const target = readTarget(request, origins.get(request.socket)?.port);
      await forwardRequest(request, response, await dial(target.host, target.port), target);
    };
    void forward().catch((error: unknown) => refuseRequest(response, error));
  });
  http.on("connect", (request, socket, head) => {
    try {
      authorize(request.headers["proxy-authorization"]);
      const { host, port } = splitHost(request.url ?? "");
      checkHost(egress, host, port);
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      socket.unshift(head);
      greet(socket, { host, port });
    } catch (error) {
      refuseConnection(socket, error);
    }
  });
  http.on("upgrade", (request, socket, head) => {
    const forward = async () => {
      authorize(request.headers["proxy-authorization"]);
      const target = readTarget(request, origins.get(socket)?.port);
      forwardUpgrade(request, { socket, head }, await dial(target.host, target.port), target);
    };
    void forward().catch((error: unknown) => refuseConnection(socket, error));
  });
  http.on("clientError", (_, socket) => void socket.destroy());

  const greet = (socket: Duplex, origin: Origin) => {
    origins.set(socket, origin);
    readGreeting(socket, {
      tls: (name) => void serveTls(socket, name),
      http: () => void http.emit("connection", socket),
    });
  };

  return {
    accept(socket, origin) {
      if (connections.size >= MAX_CONNECTIONS) return void socket.destroy();
      track(socket);
      greet(socket, origin);
    },
    close() {
      for (const socket of connections) socket.destroy();
    },
  };
}

type Dial = (text: string, port: number) => Promise<Socket>;

/** Counts what is open: one client may send any number of requests at once. */
function limitOpen(dial: Dial): Dial {
  let count = 0;
  const release = () => void count--;
  return async (text, port) => {
    if (count >= MAX_CONNECTIONS) throw new Error("too many connections are open");
    count++;
    try {
      return (await dial(text, port)).once("close", release);
    } catch (error) {
      release();
      throw error;
    }
  };
}

/** Returns a function that connects to a host, if it may be called. */
function createDialer(
  egress: EgressProxyOptions["egress"],
  scopes: AllowedScopes,
  track: (socket: Socket) => void,
): Dial {
  const isAllowed = createAddressCheck(scopes);
  return async (text, port) => {
    const host = checkHost(egress, text, port);
    const found = await resolveAllowed(host, isAllowed).catch((error: unknown) => {
      if (error instanceof Error && "code" in error) throw error;
      throw egress.refuse(host, "its address is not on the internet");
    });
    const socket = connect({
      ...{ host, port, autoSelectFamily: true, allowHalfOpen: true },
      lookup: (_, options, done) => {
        const [first] = found;
        if (options.all === true || first === undefined) done(null, [...found]);
        else done(null, first.address, first.family);
      },
    });
    track(socket);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    socket.once("connect", resolve).once("error", reject);
    socket.once("close", () => reject(new Error(`${host} closed the connection`)));
    const late = setTimeout(() => socket.destroy(new Error(`${host} did not answer in time`)), CONNECT_MS);
    await promise.finally(() => clearTimeout(late));
    return socket;
  };
}

/** Reads the first bytes, which decide how a connection is served. */
function readGreeting(socket: Duplex, serve: { tls(name: string | undefined): void; http(): void }): void {
  const received = collectBytes();
  /** At how many bytes the greeting is read again. A client may send them one by one. */
  let enough = 1;
  const decide = (bytes: Buffer): (() => void) | undefined => {
    if (bytes[0] !== TLS_HANDSHAKE) return serve.http;
    const greeting = readServerName(bytes);
    if (greeting.kind === "incomplete") {
      enough = bytes.length + greeting.missing;
      return undefined;
    }
    return greeting.kind === "invalid" ? () => void socket.destroy() : () => serve.tls(greeting.name);
  };
  const read = (chunk: Buffer) => {
    const bytes = received.add(chunk);
    const serveNow = bytes.length < enough ? undefined : decide(bytes);
    if (serveNow === undefined) return;
    stop();
    socket.pause();
    socket.unshift(bytes);
    serveNow();
    if (bytes[0] !== TLS_HANDSHAKE) socket.resume();
  };
  const end = () => void socket.destroy();
  const late = setTimeout(end, GREETING_MS);
  const stop = () => {
    clearTimeout(late);
    socket.off("data", read).off("end", end).off("close", stop);
  };
  socket.on("data", read).on("end", end).on("close", stop).resume();
}

/** Joins chunks in a buffer that grows to double its size, so that many small ones are not copied again each time. */
function collectBytes(): { add(chunk: Buffer): Buffer } {
  let buffer = Buffer.alloc(0);
  let length = 0;
  return {
    add(chunk) {
      const end = length + chunk.length;
      if (end > buffer.length) buffer = Buffer.concat([buffer.subarray(0, length)], 2 * end);
      chunk.copy(buffer, length);
      length = end;
      return buffer.subarray(0, length);
    },
  };
}

/** @throws an Error when the host may not be called */
function checkHost(egress: EgressProxyOptions["egress"], text: string, port: number): string {
  const host = toHostName(text);
  if (host === undefined) throw egress.refuse("an invalid name", "names of hosts have letters, digits and hyphens");
  egress.check(host, port);
  return host;
}
