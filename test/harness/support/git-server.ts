import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import { dirname } from "node:path";
import { respondByGit } from "../../../lab/git/backend.ts";
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
    const path = url.pathname.replace(/^\/[^/]+/, "");
    await respondByGit(request, response, { root: dirname(this.#repository.path), path });
  }
}
