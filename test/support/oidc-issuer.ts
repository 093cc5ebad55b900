import { createHash, randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from "jose";

interface SigningKey {
  readonly kid: string;
  readonly privateKey: CryptoKey;
  readonly publicJwk: JWK;
}

interface Grant {
  readonly challenge: string;
  readonly nonce: string;
  readonly redirectUri: string;
}

/** Claims of a token: one that is undefined is left out. */
type ClaimChanges = Readonly<Record<string, unknown>>;

/**
 * An issuer of OIDC tokens: discovery, keys, authorization without a login form, and tokens by code with PKCE. A test changes the
 * claims of its next tokens and its keys.
 */
export class OidcIssuer implements AsyncDisposable {
  /** The claims of the person who signs in at the issuer. */
  person: ClaimChanges = { sub: "user-1", email: "ada@runyard.test", email_verified: true };
  /** Changes of the claims of ID tokens. */
  changes: ClaimChanges = {};
  /** Requests by path. */
  readonly seen: {
    readonly path: string;
    readonly form: URLSearchParams;
    readonly authorization: string | undefined;
  }[] = [];
  /** The time that tokens are issued at, in milliseconds. */
  now: () => number = Date.now;
  /** The status of all responses, if it is not 200. */
  failure: number | undefined;
  /** Changes of the issuer's metadata. */
  metadataChanges: ClaimChanges = {};
  /** The body of responses of the token endpoint, instead of a token. */
  tokenResponse: unknown;
  readonly #server: Server;
  readonly #grants = new Map<string, Grant>();
  #keys: SigningKey[] = [];

  private constructor(server: Server) {
    this.#server = server;
    server.on("request", (request, response) => void this.#serve(request, response));
  }

  static async start(): Promise<OidcIssuer> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const issuer = new OidcIssuer(server);
    await issuer.rotate();
    return issuer;
  }

  get url(): string {
    const address = this.#server.address();
    if (typeof address !== "object" || address === null) throw new Error("the issuer does not listen");
    return `http://127.0.0.1:${address.port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  /** Replaces the keys of the issuer. */
  async rotate(): Promise<void> {
    this.#keys = [await newKey()];
  }

  /** Adds a key, so that a token without a key id may be signed by either. */
  async addKey(): Promise<void> {
    this.#keys.push(await newKey());
  }

  /**
   * A signed token; `foreign` signs it with a key that the issuer does not publish, under the id of one that it does, and
   * `anonymous` leaves out the id of the key.
   */
  async sign(claims: ClaimChanges, { foreign = false, anonymous = false } = {}): Promise<string> {
    const [published] = this.#keys;
    if (published === undefined) throw new Error("the issuer has no key");
    const { privateKey } = foreign ? await newKey() : published;
    const seconds = Math.floor(this.now() / 1000);
    const payload: JWTPayload = { iss: this.url, iat: seconds, exp: seconds + 300, ...claims };
    const header = { alg: "ES256", ...(anonymous ? {} : { kid: published.kid }) };
    return new SignJWT(payload).setProtectedHeader(header).sign(privateKey);
  }

  /** Counts the requests of a path. */
  countOf(path: string): number {
    return this.seen.filter((request) => request.path === path).length;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = "";
    for await (const chunk of request.setEncoding("utf8")) text += chunk;
    const { pathname, searchParams } = new URL(request.url ?? "/", this.url);
    const form = new URLSearchParams(text);
    this.seen.push({ path: pathname, form, authorization: request.headers.authorization });
    const send = (status: number, body: unknown) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    if (this.failure !== undefined) return void send(this.failure, {});
    if (pathname === "/.well-known/openid-configuration") return void send(200, this.#metadata());
    if (pathname === "/keys") return void send(200, { keys: this.#keys.map(({ publicJwk }) => publicJwk) });
    if (pathname === "/authorize")
      return void response.writeHead(302, { location: this.authorize(searchParams) }).end();
    if (pathname !== "/token") return void send(404, {});
    const token = await this.#redeem(form);
    if (this.tokenResponse !== undefined) return void send(200, this.tokenResponse);
    send(token === undefined ? 400 : 200, token ?? { error: "invalid_grant" });
  }

  /** Signs the person in, and returns the URL that they are redirected to. */
  authorize(query: URLSearchParams): string {
    const code = randomUUID();
    const redirectUri = query.get("redirect_uri") ?? "";
    this.#grants.set(code, {
      challenge: query.get("code_challenge") ?? "",
      nonce: query.get("nonce") ?? "",
      redirectUri,
    });
    const target = new URL(redirectUri);
    target.searchParams.set("code", code);
    target.searchParams.set("state", query.get("state") ?? "");
    return target.href;
  }

  async #redeem(form: URLSearchParams): Promise<object | undefined> {
    const code = form.get("code") ?? "";
    const grant = this.#grants.get(code);
    // A code works once.
    this.#grants.delete(code);
    const challenge = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    if (grant === undefined || grant.challenge !== challenge || grant.redirectUri !== form.get("redirect_uri")) return;
    const claims = { aud: "runyard", nonce: grant.nonce, ...this.person, ...this.changes };
    return { token_type: "Bearer", access_token: "unused", id_token: await this.sign(claims) };
  }

  #metadata() {
    return {
      issuer: this.url,
      authorization_endpoint: `${this.url}/authorize`,
      token_endpoint: `${this.url}/token`,
      jwks_uri: `${this.url}/keys`,
      ...this.metadataChanges,
    };
  }
}

async function newKey(): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair("ES256");
  const kid = randomUUID();
  return { kid, privateKey, publicJwk: { ...(await exportJWK(publicKey)), kid, alg: "ES256", use: "sig" } };
}
