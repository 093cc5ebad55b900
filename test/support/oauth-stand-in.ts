import { createHash, randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";

interface Client {
  readonly redirects: readonly string[];
}

interface Code {
  readonly client: string;
  readonly redirect: string;
  readonly challenge: string;
  readonly resource: string;
}

/** Deviations of the stand-in from what its metadata should be. */
interface Faults {
  resource?: string;
  issuer?: string;
  methods?: string[];
  tokenEndpoint?: string;
  registration?: boolean;
  denied?: boolean;
}

/**
 * An MCP server and its authorization server on 127.0.0.1, as strict as OAuth 2.1: PKCE with S256, exact redirect URIs, codes and refresh
 * tokens that work once, and tokens that are limited to the resource.
 */
export class OAuthStandIn implements AsyncDisposable {
  readonly faults: Faults = {};
  accessToken = "";
  refreshToken = "";
  /** How often tokens were requested by a refresh token. */
  renewals = 0;
  readonly #clients = new Map<string, Client>();
  readonly #codes = new Map<string, Code>();
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    server.on("request", (request, response) => void this.#serve(request, response));
  }

  static async start(): Promise<OAuthStandIn> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return new OAuthStandIn(server);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  get #origin(): string {
    const address = this.#server.address();
    if (typeof address !== "object" || address === null) throw new Error("the stand-in does not listen");
    return `http://127.0.0.1:${address.port}`;
  }
  get mcpUrl(): string {
    return `${this.#origin}/mcp`;
  }
  get tokenEndpoint(): string {
    return `${this.#issuer}/token`;
  }
  get #issuer(): string {
    return `${this.#origin}/auth`;
  }

  /** Calls the MCP server with a token. */
  call = (token: string): Promise<Response> => fetch(this.mcpUrl, { headers: { authorization: `Bearer ${token}` } });

  /** Makes all tokens invalid. */
  revoke(): void {
    this.accessToken = randomUUID();
    this.refreshToken = randomUUID();
  }

  /** Adds a client that was created by hand, and returns the port of its redirect URI. */
  async allowClient(id: string): Promise<number> {
    const probe = createServer();
    await new Promise<void>((resolve) => probe.listen(0, "127.0.0.1", resolve));
    const address = probe.address();
    const port = typeof address === "object" ? (address?.port ?? 0) : 0;
    await new Promise<void>((resolve) => probe.close(() => resolve()));
    this.#clients.set(id, { redirects: [`http://127.0.0.1:${port}/callback`] });
    return port;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<unknown> {
    let text = "";
    for await (const chunk of request.setEncoding("utf8")) text += chunk;
    const { pathname, searchParams } = new URL(request.url ?? "/", this.#origin);
    const send = (status: number, body: unknown) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    switch (pathname) {
      case "/mcp":
        return this.#serveMcp(request, text, response);
      case "/metadata/mcp":
        return send(200, { resource: this.faults.resource ?? this.mcpUrl, authorization_servers: [this.#issuer] });
      case "/.well-known/oauth-authorization-server/auth":
        return send(200, this.#describe());
      case "/auth/register":
        return send(201, this.#register(JSON.parse(text)));
      case "/auth/authorize":
        return this.#authorize(searchParams, response);
      case "/auth/token": {
        const granted = request.method === "POST" ? this.#grant(new URLSearchParams(text)) : undefined;
        return granted === undefined ? send(400, { error: "invalid_grant" }) : send(200, granted);
      }
      default:
        return send(404, {});
    }
  }

  #serveMcp(request: IncomingMessage, text: string, response: ServerResponse): void {
    if (this.accessToken === "" || request.headers.authorization !== `Bearer ${this.accessToken}`) {
      const challenge = `Bearer error="invalid_token", resource_metadata="${this.#origin}/metadata/mcp", scope="issues"`;
      response.writeHead(401, { "www-authenticate": challenge }).end();
      return;
    }
    const { id, method } = text === "" ? {} : JSON.parse(text);
    if (text !== "" && id === undefined) return void response.writeHead(202).end();
    const result =
      method === "initialize"
        ? { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } }
        : method === "tools/list"
          ? { tools: [{ name: "read", inputSchema: { type: "object" } }] }
          : { content: [{ type: "text", text: "issue 1" }] };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ jsonrpc: "2.0", id, result }));
  }

  #describe(): object {
    return {
      issuer: this.faults.issuer ?? this.#issuer,
      authorization_endpoint: `${this.#issuer}/authorize`,
      token_endpoint: this.faults.tokenEndpoint ?? `${this.#issuer}/token`,
      ...(this.faults.registration === false ? {} : { registration_endpoint: `${this.#issuer}/register` }),
      code_challenge_methods_supported: this.faults.methods ?? ["S256"],
    };
  }

  #register({
    redirect_uris,
    token_endpoint_auth_method,
  }: {
    redirect_uris: string[];
    token_endpoint_auth_method: string;
  }) {
    if (token_endpoint_auth_method !== "none") throw new Error("the client is public");
    const client_id = randomUUID();
    this.#clients.set(client_id, { redirects: redirect_uris });
    return { client_id, redirect_uris };
  }

  #authorize(query: URLSearchParams, response: ServerResponse): void {
    const [client, redirect, challenge, state] = ["client_id", "redirect_uri", "code_challenge", "state"].map(
      (name) => query.get(name) ?? "",
    );
    const isKnown = this.#clients.get(client ?? "")?.redirects.includes(redirect ?? "") === true;
    const asksRightly =
      query.get("response_type") === "code" &&
      query.get("code_challenge_method") === "S256" &&
      query.get("resource") === this.mcpUrl &&
      query.get("scope") === "issues";
    if (!isKnown || !asksRightly || !challenge || !state) return void response.writeHead(400).end("refused");
    const back = new URL(redirect ?? "");
    back.searchParams.set("state", state);
    back.searchParams.set("iss", this.#issuer);
    if (this.faults.denied === true) {
      back.searchParams.set("error", "access_denied");
      back.searchParams.set("error_description", "the person refused");
    } else {
      const code = randomUUID();
      this.#codes.set(code, { client: client ?? "", redirect: redirect ?? "", challenge, resource: this.mcpUrl });
      back.searchParams.set("code", code);
    }
    response.writeHead(302, { location: back.href }).end();
  }

  #grant(form: URLSearchParams): object | undefined {
    if (form.get("resource") !== this.mcpUrl || !this.#clients.has(form.get("client_id") ?? "")) return undefined;
    if (form.get("grant_type") === "refresh_token") {
      this.renewals++;
      if (this.refreshToken === "" || form.get("refresh_token") !== this.refreshToken) return undefined;
    } else {
      const code = this.#codes.get(form.get("code") ?? "");
      this.#codes.delete(form.get("code") ?? "");
      const digest = createHash("sha256")
        .update(form.get("code_verifier") ?? "")
        .digest("base64url");
      if (code === undefined || code.challenge !== digest) return undefined;
      if (code.client !== form.get("client_id") || code.redirect !== form.get("redirect_uri")) return undefined;
    }
    this.accessToken = randomUUID();
    this.refreshToken = randomUUID();
    return {
      access_token: this.accessToken,
      refresh_token: this.refreshToken,
      token_type: "Bearer",
      expires_in: 3600,
    };
  }
}
