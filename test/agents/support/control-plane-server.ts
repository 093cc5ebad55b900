import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { Readable } from "node:stream";
import type { Envelope } from "#shared/wire/harness.ts";
import { request as sendRequest } from "../../support/client.ts";
import type { TestControlPlane } from "../../support/control-plane.ts";

/** The base URL of files in memory. */
const FILES = "https://files.test/";

interface Seen {
  readonly method: string;
  readonly path: string;
  readonly text: string;
  readonly status: number;
}

/** A control plane that a harness in a process of its own can call: the API, the files, and the model gateway. */
export class ControlPlaneServer implements AsyncDisposable {
  /** Every call of the API, in order. */
  readonly seen: Seen[] = [];
  /** Calls whose response is lost after the control plane has processed them. */
  lost: (method: string, path: string) => boolean = () => false;
  readonly #plane: TestControlPlane;
  readonly #gateway: (request: Request) => Promise<Response>;
  readonly #server = createServer((request, response) => {
    void this.#serve(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
  });

  private constructor(plane: TestControlPlane, gateway: (request: Request) => Promise<Response>) {
    this.#plane = plane;
    this.#gateway = gateway;
  }

  static async start(
    plane: TestControlPlane,
    gateway: (request: Request) => Promise<Response>,
  ): Promise<ControlPlaneServer> {
    const server = new ControlPlaneServer(plane, gateway);
    server.#server.listen(0, "127.0.0.1");
    await once(server.#server, "listening");
    return server;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  get #url(): string {
    const address = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("the control plane does not listen");
    return `http://127.0.0.1:${address.port}`;
  }

  /** The envelope with the URLs of this server. */
  prepareEnvelope(envelope: Envelope): Envelope {
    return { ...envelope, base_url: `${this.#url}/api/v1`, model_url: `${this.#url}/model` };
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(Buffer.from(chunk));
    const bytes = Buffer.concat(chunks);
    const { method = "GET", url = "/" } = request;
    if (url.startsWith("/files/")) return await this.#file(method, url.slice("/files/".length), bytes, response);
    if (url.startsWith("/model/")) return await this.#model(request, bytes, response);
    const path = url.slice("/api/v1".length);
    const headers = Object.fromEntries(
      Object.entries(request.headers).flatMap(([name, value]) => (typeof value === "string" ? [[name, value]] : [])),
    );
    const { authorization = "", ...rest } = headers;
    const key = authorization.replace(/^Bearer /, "");
    const body = bytes.length === 0 ? {} : { body: bytes.toString() };
    const result = await sendRequest(this.#plane, method, path, { key, headers: rest, ...body });
    this.seen.push({ method, path, text: bytes.toString(), status: result.status });
    if (this.lost(method, path)) return void response.destroy();
    const here = (text: string) => text.replaceAll(FILES, `${this.#url}/files/`);
    const location = result.headers["location"];
    response.writeHead(result.status, {
      ...result.headers,
      "content-type": result.headers["content-type"] ?? "application/json",
      ...(location === undefined ? {} : { location: here(location) }),
    });
    response.end(here(JSON.stringify(result.body ?? {})));
  }

  async #file(method: string, key: string, bytes: Buffer, response: ServerResponse): Promise<void> {
    if (method === "PUT") {
      await this.#plane.files.put(key, bytes, "application/octet-stream");
      return void response.writeHead(200).end();
    }
    const found = await this.#plane.files.get(key);
    response.writeHead(found === undefined ? 404 : 200).end(found);
  }

  async #model(request: IncomingMessage, bytes: Buffer, response: ServerResponse): Promise<void> {
    const headers = new Headers();
    for (const [name, value] of Object.entries(request.headers)) {
      if (typeof value === "string" && !["host", "connection", "content-length"].includes(name))
        headers.set(name, value);
    }
    const method = request.method ?? "GET";
    const result = await this.#gateway(new Request(`${this.#url}${request.url}`, { method, headers, body: bytes }));
    response.writeHead(result.status, Object.fromEntries(result.headers));
    if (result.body === null) response.end();
    else Readable.fromWeb(result.body).pipe(response);
  }
}
