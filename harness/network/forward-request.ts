import { request as createRequest, type IncomingMessage, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { pipeline } from "node:stream/promises";
import { formatError } from "../support/stop.ts";
import { relay } from "./relay-connection.ts";

/** A request that is refused before any host is called. */
export class Refusal extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}

/** Where an HTTP request goes. */
export interface Target {
  /** As the client wrote it. */
  readonly host: string;
  readonly port: number;
  /** The host and the port for the header. */
  readonly authority: string;
  readonly path: string;
}

/** Headers for the next machine only. */
const HOP_BY_HOP = [
  ...["connection", "keep-alive", "proxy-connection", "proxy-authorization", "proxy-authenticate"],
  ...["te", "trailer", "transfer-encoding", "upgrade", "expect", "host"],
];

/**
 * Reads where a request goes: its URL, if the client knows that it calls a proxy, or else its Host header.
 * @param port at which a client called that knows no proxy; undefined refuses such clients
 * @throws Refusal
 */
export function readTarget(request: IncomingMessage, port: number | undefined): Target {
  const { url = "", rawHeaders } = request;
  if (!url.startsWith("/") && url !== "*") {
    const parsed = URL.parse(url);
    if (parsed?.protocol !== "http:") throw new Refusal(400, "the proxy takes http URLs and CONNECT");
    const { hostname, host, pathname, search } = parsed;
    return { host: hostname, port: Number(parsed.port || 80), authority: host, path: `${pathname}${search}` };
  }
  const hosts = rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === "host");
  const [authority] = hosts;
  if (authority === undefined || hosts.length > 1) throw new Refusal(400, "the request needs one Host header");
  if (port === undefined) throw new Refusal(400, "the proxy takes whole URLs and CONNECT");
  return { host: splitHost(authority).host, port, authority, path: url };
}

/** Splits `host:port`. Without a port it is 0. */
export function splitHost(authority: string): { host: string; port: number } {
  const [, host = "", port = "0"] = /^(\[[^\]]*\]|[^:]*)(?::(\d{1,5}))?$/.exec(authority) ?? [];
  return { host, port: Number(port) };
}

export const isWebSocket = ({ headers }: IncomingMessage): boolean => headers.upgrade?.toLowerCase() === "websocket";

/** Sends a request on a connection to its host, and the response back. */
export async function forwardRequest(
  request: IncomingMessage,
  response: ServerResponse,
  upstream: Duplex,
  target: Target,
): Promise<void> {
  const call = startCall(request, upstream, target);
  const responded = new Promise<IncomingMessage>((resolve, reject) => {
    call.on("response", resolve).on("error", reject);
  });
  response.on("close", () => upstream.destroy());
  const sent = pipeline(request, call);
  // The server may answer before it has read everything.
  void sent.catch(() => {});
  const received = await responded;
  response.sendDate = false;
  const { statusCode = 502, statusMessage } = received;
  response.writeHead(statusCode, statusMessage, filterHeaders(received).flat());
  await pipeline(received, response);
}

/** Opens a web socket on a connection to its host, and relays it. */
export function forwardUpgrade(
  request: IncomingMessage,
  { socket, head }: { readonly socket: Duplex; readonly head: Buffer },
  upstream: Duplex,
  target: Target,
): void {
  const call = startCall(request, upstream, target, { connection: "Upgrade", upgrade: "websocket" });
  call.on("upgrade", (opened, connection, first) => {
    const added: Header[] = [
      ["Connection", "Upgrade"],
      ["Upgrade", "websocket"],
    ];
    socket.write(formatHead(opened, [...filterHeaders(opened), ...added]));
    connection.unshift(first);
    socket.unshift(head);
    relay(socket, connection);
  });
  call.on("response", (response) => {
    socket.write(formatHead(response, [...filterHeaders(response), ["Connection", "close"]]));
    void pipeline(response, socket).catch(() => socket.destroy());
  });
  call.on("error", () => socket.destroy());
  socket.on("close", () => upstream.destroy());
  call.end();
}

/** Tells the client why it is refused. */
export function refuseRequest(response: ServerResponse, error: unknown): void {
  if (response.headersSent) return void response.destroy();
  const { status, headers, text } = describeRefusal(error);
  response.writeHead(status, { ...headers, "content-type": "text/plain", connection: "close" });
  response.end(text);
}

export function refuseConnection(socket: Duplex, error: unknown): void {
  const { status, headers, text } = describeRefusal(error);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const length = `content-type: text/plain\r\ncontent-length: ${Buffer.byteLength(text)}\r\nconnection: close\r\n`;
  socket.end(`HTTP/1.1 ${status} Refused\r\n${lines.join("")}${length}\r\n${text}`);
}

function describeRefusal(error: unknown) {
  const text = `${formatError(error)}\n`;
  if (error instanceof Refusal) return { status: error.status, headers: error.headers, text };
  return { status: text.startsWith("blocked: ") ? 403 : 502, headers: {}, text };
}

type Header = readonly [name: string, value: string];

function startCall(request: IncomingMessage, upstream: Duplex, target: Target, extra: Record<string, string> = {}) {
  const named = Map.groupBy(filterHeaders(request), ([name]) => name.toLowerCase());
  const headers = Object.fromEntries([...named].map(([name, pairs]) => [name, pairs.map(([, value]) => value)]));
  const { method = "GET" } = request;
  const chunked = request.headers["transfer-encoding"] === undefined ? {} : { "transfer-encoding": "chunked" };
  return createRequest({
    // Without an agent, which would open a connection of its own.
    createConnection: () => upstream,
    ...{ method, path: target.path, setHost: false },
    headers: { host: target.authority, ...headers, ...chunked, ...extra },
  });
}

/** The headers of a message without those that its next machine must not get. */
function filterHeaders({ rawHeaders, headers }: IncomingMessage): Header[] {
  const own = (headers.connection ?? "").split(",").map((name) => name.trim().toLowerCase());
  const pairs = rawHeaders.flatMap((name, index): Header[] =>
    index % 2 === 0 ? [[name, rawHeaders[index + 1] ?? ""]] : [],
  );
  // A client that names the length among them would make the next machine read the body as another request.
  const isDropped = (name: string) => HOP_BY_HOP.includes(name) || (own.includes(name) && name !== "content-length");
  return pairs.filter(([name]) => !isDropped(name.toLowerCase()));
}

function formatHead({ statusCode = 502, statusMessage = "" }: IncomingMessage, headers: readonly Header[]): string {
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${statusCode} ${statusMessage}\r\n${lines.join("")}\r\n`;
}
