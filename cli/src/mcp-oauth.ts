import { createHash, randomBytes } from "node:crypto";
import * as v from "valibot";
import { isOnThisMachine } from "./connection.ts";
import { Problem } from "./problem.ts";

/** Where a person signs in to an MCP server, and where tokens come from. */
export interface McpAuthorization {
  /** The identifier of the MCP server, which tokens are limited to. */
  readonly resource: string;
  readonly issuer: string;
  readonly authorizationEndpoint: string;
  readonly tokenEndpoint: string;
  /** Undefined where clients are not registered by a request. */
  readonly registrationEndpoint: string | undefined;
  /** What the MCP server asks for. */
  readonly scope: string | undefined;
}

/** An OAuth client, with the secret that some servers give it. */
export interface OAuthClient {
  readonly client_id: string;
  readonly client_secret?: string;
}

const Endpoint = v.pipe(v.string(), v.check(isSafe, "must be an https URL"));
const ResourceMetadata = v.object({
  resource: v.string(),
  authorization_servers: v.pipe(v.array(Endpoint), v.minLength(1)),
  scopes_supported: v.exactOptional(v.array(v.string())),
});
const ServerMetadata = v.object({
  issuer: v.string(),
  authorization_endpoint: Endpoint,
  token_endpoint: Endpoint,
  registration_endpoint: v.exactOptional(Endpoint),
  code_challenge_methods_supported: v.exactOptional(v.array(v.string()), []),
});
const Registration = v.object({ client_id: v.string(), client_secret: v.exactOptional(v.string()) });
const Tokens = v.object({
  access_token: v.pipe(v.string(), v.nonEmpty()),
  token_type: v.pipe(v.string(), v.regex(/^bearer$/i, "must be Bearer")),
  expires_in: v.exactOptional(v.number()),
  refresh_token: v.exactOptional(v.string()),
});
export type Tokens = v.InferOutput<typeof Tokens>;
const Refusal = v.object({ error: v.string(), error_description: v.exactOptional(v.string()) });

const REQUEST_MS = 30_000;

/** Finds the authorization server of an MCP server (RFC 9728, RFC 8414). */
export async function discoverAuthorization(url: string): Promise<McpAuthorization> {
  if (!isSafe(url)) throw new Problem(`${url} is not an https URL.`);
  const challenge = await readChallenge(url);
  const metadata = await fetchFirst(
    challenge.metadata ?? listWellKnown(url, "oauth-protected-resource"),
    ResourceMetadata,
  );
  if (metadata === undefined)
    throw new Problem(`${url} does not say where to sign in.`, {
      remedy: "Store a token of the server with `runyard secrets set`, and name it in headers.authorization.",
    });
  // Otherwise a server could ask for a token of another one.
  if (!isWithin(url, metadata.resource)) throw new Problem(`${url} names another server, ${metadata.resource}.`);
  const [issuer = ""] = metadata.authorization_servers;
  const places = [
    ...listWellKnown(issuer, "oauth-authorization-server"),
    ...listWellKnown(issuer, "openid-configuration"),
  ];
  const server = await fetchFirst(places, ServerMetadata);
  if (server === undefined) throw new Problem(`The authorization server ${issuer} publishes no metadata.`);
  if (server.issuer !== issuer) throw new Problem(`The authorization server ${issuer} calls itself ${server.issuer}.`);
  if (!server.code_challenge_methods_supported.includes("S256"))
    throw new Problem(`The authorization server ${issuer} does not support PKCE with S256.`);
  return {
    resource: metadata.resource,
    issuer,
    authorizationEndpoint: server.authorization_endpoint,
    tokenEndpoint: server.token_endpoint,
    registrationEndpoint: server.registration_endpoint,
    scope: challenge.scope ?? metadata.scopes_supported?.join(" "),
  };
}

/** Reads the challenge by which an MCP server refuses a request without a token. */
async function readChallenge(url: string): Promise<{ metadata?: readonly string[]; scope?: string }> {
  const response = await send(url, { headers: { accept: "application/json, text/event-stream" } });
  await response.body?.cancel();
  const challenge = response.headers.get("www-authenticate") ?? "";
  const [, metadata] = /\bresource_metadata="([^"]+)"/.exec(challenge) ?? [];
  const [, scope] = /\bscope="([^"]+)"/.exec(challenge) ?? [];
  return {
    ...(metadata !== undefined && isSafe(metadata) ? { metadata: [metadata] } : {}),
    ...(scope === undefined ? {} : { scope }),
  };
}

/** Registers a client that has no secret (RFC 7591). */
export async function registerClient(endpoint: string, redirectUri: string): Promise<OAuthClient> {
  const response = await send(endpoint, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      client_name: "Runyard",
      redirect_uris: [redirectUri],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
    }),
  });
  return await readResponse(response, Registration, "registered no client");
}

/** A request for a code: the address to open, and what its response is checked with. */
export interface CodeRequest {
  readonly url: string;
  readonly state: string;
  readonly verifier: string;
}

export function createCodeRequest(
  { authorizationEndpoint, resource, scope }: McpAuthorization,
  { client_id }: OAuthClient,
  redirectUri: string,
): CodeRequest {
  const verifier = randomBytes(32).toString("base64url");
  const state = randomBytes(16).toString("base64url");
  const url = new URL(authorizationEndpoint);
  const query = {
    response_type: "code",
    client_id,
    redirect_uri: redirectUri,
    state,
    resource,
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
    ...(scope === undefined ? {} : { scope }),
  };
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return { url: url.href, state, verifier };
}

/** Exchanges a code or a refresh token for tokens. @throws Problem with the server's own words */
export async function requestTokens(
  endpoint: string,
  { client_id, client_secret }: OAuthClient,
  grant: Readonly<Record<string, string>>,
): Promise<Tokens> {
  const body = new URLSearchParams({ client_id, ...(client_secret === undefined ? {} : { client_secret }), ...grant });
  const response = await send(endpoint, { method: "POST", headers: { accept: "application/json" }, body });
  return await readResponse(response, Tokens, "gave no token");
}

/** Credentials are never sent on to where a redirect leads. */
const send = (url: string, init: RequestInit): Promise<Response> =>
  fetch(url, { ...init, redirect: "error", signal: AbortSignal.timeout(REQUEST_MS) }).catch((error: unknown) => {
    throw new Problem(`${url} does not respond: ${error instanceof Error ? error.message : String(error)}`);
  });

async function readResponse<S extends v.GenericSchema>(
  response: Response,
  schema: S,
  failure: string,
): Promise<v.InferOutput<S>> {
  const body: unknown = await response.json().catch(() => undefined);
  const parsed = v.safeParse(schema, body);
  if (response.ok && parsed.success) return parsed.output;
  const why = v.is(Refusal, body)
    ? [body.error, body.error_description].filter((text) => text !== undefined).join(": ")
    : response.ok
      ? "an unexpected response"
      : `status ${response.status}`;
  throw new Problem(`${new URL(response.url).host} ${failure}: ${why}`);
}

async function fetchFirst<S extends v.GenericSchema>(
  urls: readonly string[],
  schema: S,
): Promise<v.InferOutput<S> | undefined> {
  for (const url of urls) {
    const response = await send(url, { headers: { accept: "application/json" } });
    const parsed = v.safeParse(schema, await response.json().catch(() => undefined));
    if (response.ok && parsed.success) return parsed.output;
  }
  return undefined;
}

/** The places of the metadata of a URL: the well-known path before the URL's path, and without it; for OpenID, behind it. */
function listWellKnown(url: string, name: string): string[] {
  const { origin, pathname } = new URL(url);
  const path = pathname.replace(/\/+$/, "");
  const place = `/.well-known/${name}`;
  const other = name === "openid-configuration" ? `${path}${place}` : place;
  return [...new Set([`${origin}${place}${path}`, `${origin}${other}`])];
}

function isWithin(url: string, resource: string): boolean {
  if (!URL.canParse(resource)) return false;
  const [own, named] = [new URL(url), new URL(resource)];
  const toFolder = ({ pathname }: URL) => pathname.replace(/\/*$/, "/");
  return own.origin === named.origin && toFolder(own).startsWith(toFolder(named));
}

/** Tokens are sent over TLS only, except on this machine. */
function isSafe(url: string): boolean {
  return URL.canParse(url) && (new URL(url).protocol === "https:" || isOnThisMachine(url));
}
