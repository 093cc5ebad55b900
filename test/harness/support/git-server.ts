import { spawn } from "node:child_process";
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import { dirname } from "node:path";
import type { Repository } from "./repository.ts";

/** A request for a repository. */
export interface SeenRequest {
  readonly path: string;
  readonly authorization: string | undefined;
}

/** A Git server over https that requires a token: `git http-backend` with authentication. */
export class GitServer implements AsyncDisposable {
  readonly seen: SeenRequest[] = [];
  readonly #server: Server;
  readonly #repository: Repository;
  readonly #isGood: (user: string, password: string) => boolean;

  private constructor(
    repository: Repository,
    tls: { readonly key: string; readonly cert: string },
    isGood: (user: string, password: string) => boolean,
  ) {
    this.#repository = repository;
    this.#isGood = isGood;
    this.#server = createServer({ ...tls }, (request, response) => void this.#serve(request, response));
  }

  static async start(
    repository: Repository,
    tls: { readonly key: string; readonly cert: string },
    isGood: (user: string, password: string) => boolean,
  ): Promise<GitServer> {
    const server = new GitServer(repository, tls, isGood);
    server.#server.listen(0, "127.0.0.1");
    await once(server.#server, "listening");
    return server;
  }

  get origin(): string {
    const address = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("the Git server does not listen");
    return `https://127.0.0.1:${address.port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { authorization } = request.headers;
    const url = new URL(request.url ?? "/", this.origin);
    this.seen.push({ path: url.pathname, authorization });
    const [user = "", password = ""] = Buffer.from(authorization?.replace(/^Basic /, "") ?? "", "base64")
      .toString()
      .split(":");
    if (!this.#isGood(user, password)) {
      response.writeHead(401, { "www-authenticate": 'Basic realm="git"' }).end("who are you?");
      return;
    }
    const backend = spawn("git", ["http-backend"], {
      env: {
        PATH: process.env["PATH"] ?? "",
        GIT_PROJECT_ROOT: dirname(this.#repository.path),
        GIT_HTTP_EXPORT_ALL: "1",
        GIT_CONFIG_COUNT: "1",
        GIT_CONFIG_KEY_0: "safe.directory",
        GIT_CONFIG_VALUE_0: "*",
        PATH_INFO: url.pathname.replace(/^\/[^/]+/, ""),
        QUERY_STRING: url.search.slice(1),
        REQUEST_METHOD: request.method ?? "GET",
        CONTENT_TYPE: request.headers["content-type"] ?? "",
        HTTP_CONTENT_ENCODING: request.headers["content-encoding"] ?? "",
        HTTP_GIT_PROTOCOL: String(request.headers["git-protocol"] ?? ""),
      },
    });
    request.pipe(backend.stdin);
    const chunks: Buffer[] = [];
    for await (const chunk of backend.stdout) chunks.push(Buffer.from(chunk));
    const result = Buffer.concat(chunks);
    const end = result.indexOf("\r\n\r\n");
    const lines = result.subarray(0, end).toString().split("\r\n");
    const headers = Object.fromEntries(lines.map((line) => [line.split(": ")[0] ?? "", line.split(": ")[1] ?? ""]));
    response.writeHead(Number.parseInt(headers["Status"] ?? "200", 10), headers).end(result.subarray(end + 4));
  }
}
