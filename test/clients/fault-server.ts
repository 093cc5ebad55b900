import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import * as v from "valibot";

/** One scripted response; README.md in this folder describes the members. */
export const ResponseBody = v.strictObject({
  at: v.optional(v.picklist(["api", "storage"]), "api"),
  status: v.optional(v.number(), 200),
  headers: v.optional(v.record(v.string(), v.string()), {}),
  body: v.optional(v.unknown()),
  raw: v.optional(v.string()),
  delay_ms: v.optional(v.number(), 0),
  stall_ms: v.optional(v.number(), 0),
  reset: v.optional(v.picklist(["before", "during"])),
});
export type ResponseBody = v.InferOutput<typeof ResponseBody>;

/** A received request. */
export interface Seen {
  readonly at: "api" | "storage";
  readonly method: string;
  /** Without the base URL's part and without the query. */
  readonly path: string;
  readonly rawQuery: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const BASE_PATH = "/api/v1";
/** CORS headers that allow requests from every page. */
const ALLOWED = {
  "access-control-allow-origin": "*",
  "access-control-allow-methods": "*",
  "access-control-allow-headers": "*, authorization",
  "access-control-expose-headers": "*",
};

/** Two servers on 127.0.0.1, an API and a storage, that send scripted responses in order and record requests. */
export class FaultServer {
  api = "";
  storage = "";
  seen: Seen[] = [];
  /** Requests that deviate from the script. */
  complaints: string[] = [];
  /** Pages for a browser that the storage serves in addition to the script, by path. */
  pages: Record<string, { type: string; text: string }> = {};
  #script: ResponseBody[] = [];
  #servers: Server[] = [];

  async start(): Promise<void> {
    this.api = `${await this.#listen("api")}${BASE_PATH}`;
    this.storage = await this.#listen("storage");
  }

  async stop(): Promise<void> {
    for (const server of this.#servers) {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  }

  /** Discards the previous script and requests, and sends these responses next. */
  play(script: readonly ResponseBody[]): void {
    this.#script = [...script];
    this.seen = [];
    this.complaints = [];
  }

  /** The number of responses that were not requested. */
  get left(): number {
    return this.#script.length;
  }

  async #listen(at: "api" | "storage"): Promise<string> {
    const server = createServer((request, response) => {
      // A connection that a client aborts is not an error of the server.
      request.on("error", () => {});
      response.on("error", () => {});
      void this.#serve(at, request, response);
    });
    this.#servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    if (typeof address !== "object" || address === null) throw new Error("there is no address");
    return `http://127.0.0.1:${address.port}`;
  }

  async #serve(at: "api" | "storage", request: IncomingMessage, response: ServerResponse): Promise<void> {
    const page = at === "storage" ? this.pages[request.url ?? ""] : undefined;
    if (page !== undefined) {
      response.writeHead(200, { "content-type": page.type }).end(page.text);
      return;
    }
    if (request.method === "OPTIONS") {
      response.writeHead(204, ALLOWED).end();
      return;
    }
    const body = await read(request);
    const [path = "", rawQuery = ""] = (request.url ?? "").split("?");
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    const method = request.method ?? "";
    this.seen.push({ at, method, path: at === "api" ? path.replace(BASE_PATH, "") : path, rawQuery, headers, body });
    const result = this.#script.shift();
    if (result === undefined || result.at !== at) {
      this.complaints.push(`${method} ${path} requested the ${at}, but expected: ${result?.at ?? "no request"}`);
      response.writeHead(404, { ...ALLOWED, "x-should-retry": "false" }).end();
      return;
    }
    await pause(result.delay_ms);
    if (result.reset === "before") return reset(request.socket);
    await this.#respond(result, request.socket, response);
  }

  async #respond(result: ResponseBody, socket: Socket, response: ServerResponse): Promise<void> {
    const bytes = Buffer.from(this.#fill(result.raw ?? (result.body === undefined ? "" : JSON.stringify(result.body))));
    const type = result.status < 400 ? "application/json" : "application/problem+json";
    const headers = Object.entries(result.headers).map(([name, value]) => [name.toLowerCase(), this.#fill(value)]);
    response.writeHead(result.status, {
      ...ALLOWED,
      ...(result.body === undefined ? {} : { "content-type": type }),
      ...(result.status === 204 ? {} : { "content-length": bytes.length }),
      ...Object.fromEntries(headers),
    });
    if (result.stall_ms > 0 || result.reset !== undefined) {
      response.flushHeaders();
      response.write(bytes.subarray(0, Math.floor(bytes.length / 2)));
      await pause(result.reset === undefined ? result.stall_ms : 20);
      if (result.reset === "during") return reset(socket);
      response.end(bytes.subarray(Math.floor(bytes.length / 2)));
      return;
    }
    response.end(bytes);
  }

  #fill(text: string): string {
    return text
      .replaceAll("{api}", this.api)
      .replaceAll("{storage}", this.storage)
      .replace(/\{date\+(\d+)s\}/g, (_, seconds: string) =>
        new Date(Date.now() + Number(seconds) * 1000).toUTCString(),
      );
  }
}

async function read(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}

function reset(socket: Socket): void {
  socket.resetAndDestroy();
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
