import { createServer } from "node:http";
import path from "node:path";
import { Command } from "@commander-js/extra-typings";
import * as v from "valibot";
import { APIError } from "../../../clients/typescript/src/index.ts";
import { loginFile } from "../connection.ts";
import type { Context } from "../context.ts";
import { readJsonFile, writePrivately } from "../files.ts";
import {
  type CodeRequest,
  createCodeRequest,
  discoverAuthorization,
  type McpAuthorization,
  registerClient,
  requestTokens,
  type Tokens,
} from "../mcp-oauth.ts";
import { Problem, usage } from "../problem.ts";
import { timeText } from "../table.ts";
import { withExamples } from "./examples.ts";

/** What a refresh needs. The service and its runs never get it. */
const StoredLogin = v.object({
  url: v.string(),
  base_url: v.string(),
  team: v.exactOptional(v.string()),
  token_endpoint: v.string(),
  resource: v.string(),
  client_id: v.string(),
  client_secret: v.exactOptional(v.string()),
  refresh_token: v.exactOptional(v.string()),
});
type StoredLogin = v.InferOutput<typeof StoredLogin>;

const SIGN_IN_MS = 10 * 60_000;

/** `runyard mcp login`: signs in to an MCP server, and stores its access token as a secret. */
export function mcpLoginCommand(context: Context) {
  const command = new Command("login")
    .description("sign in to an MCP server with OAuth, and store its access token as a secret of your team")
    .argument("<url>", "URL of the MCP server, as in mcp_servers")
    .requiredOption("--secret <name>", "name of the secret; one of this name is replaced")
    .option("--client-id <id>", "id of a client that the server knows (default: one is registered)")
    .option("--port <number>", "port of this machine to which the browser returns (default: a free one)")
    .action(async (url, { secret, clientId, port = "0" }) => {
      if (!/^\d+$/.test(port) || Number(port) > 65_535) throw usage(`--port takes a port, not "${port}".`);
      if (!/^[\w.-]{1,128}$/.test(secret)) throw usage(`--secret takes the name of a secret, not "${secret}".`);
      const authorization = await discoverAuthorization(url);
      await using callback = await listenForCode(Number(port));
      const client = await chooseClient(authorization, clientId, callback.redirectUri);
      const request = createCodeRequest(authorization, client, callback.redirectUri);
      context.note(`Open this address in a browser on this machine: ${request.url}`);
      const tokens = await requestTokens(authorization.tokenEndpoint, client, {
        grant_type: "authorization_code",
        code: await callback.receive(request, authorization.issuer),
        ...{ redirect_uri: callback.redirectUri, code_verifier: request.verifier, resource: authorization.resource },
      });
      const { baseURL } = await context.connection();
      const team = await context.team();
      await storeTokens(context, secret, tokens, {
        ...{ url, base_url: baseURL, ...(team === undefined ? {} : { team }) },
        ...{ token_endpoint: authorization.tokenEndpoint, resource: authorization.resource },
        client_id: client.client_id,
        ...(client.client_secret === undefined ? {} : { client_secret: client.client_secret }),
      });
    });
  return withExamples(command, "runyard mcp login https://mcp.example.com/mcp --secret TRACKER_TOKEN");
}

/** `runyard mcp refresh`: replaces an access token. */
export function mcpRefreshCommand(context: Context) {
  const command = new Command("refresh")
    .description("replace the access token of an MCP server by a new one, without a browser")
    .argument("<secret>", "name of the secret that `runyard mcp login` stored")
    .action(async (secret) => {
      const stored = /^[\w.-]{1,128}$/.test(secret)
        ? await readJsonFile(storedFile(context, secret), StoredLogin)
        : undefined;
      if (stored === undefined)
        throw usage(`This machine has no login for the secret ${secret}.`, "Sign in with `runyard mcp login`.");
      const again = `Sign in again: \`runyard mcp login ${stored.url} --secret ${secret}\`.`;
      const { baseURL } = await context.connection(context.baseURL ?? stored.base_url);
      if (baseURL !== stored.base_url)
        throw usage(`The secret ${secret} belongs to ${stored.base_url}, not to ${baseURL}.`, again);
      if (stored.refresh_token === undefined)
        throw new Problem(`${new URL(stored.url).host} gave no refresh token.`, { remedy: again });
      const grant = { grant_type: "refresh_token", refresh_token: stored.refresh_token, resource: stored.resource };
      const tokens = await requestTokens(stored.token_endpoint, stored, grant).catch((error: unknown) => {
        throw error instanceof Problem ? new Problem(error.message, { remedy: again }) : error;
      });
      await storeTokens(context, secret, tokens, stored);
    });
  return withExamples(command, "runyard mcp refresh TRACKER_TOKEN");
}

const storedFile = ({ shell }: Context, secret: string): string =>
  path.join(path.dirname(loginFile(shell)), "mcp", `${secret}.json`);

async function chooseClient(
  { registrationEndpoint, issuer }: McpAuthorization,
  clientId: string | undefined,
  redirectUri: string,
) {
  if (clientId !== undefined) return { client_id: clientId };
  if (registrationEndpoint === undefined)
    throw usage(
      `${issuer} registers no clients by request.`,
      `Create a public client with the redirect URI ${redirectUri}, and pass its id as --client-id and the port as --port.`,
    );
  return await registerClient(registrationEndpoint, redirectUri);
}

/** Stores the refresh token before the access token: the server has already invalidated the former one. */
async function storeTokens(context: Context, secret: string, tokens: Tokens, login: StoredLogin): Promise<void> {
  const file = storedFile(context, secret);
  const refresh = tokens.refresh_token === undefined ? {} : { refresh_token: tokens.refresh_token };
  await writePrivately(file, { ...login, ...refresh });
  const signedIn = await context.client();
  const client = login.team === undefined ? signedIn : signedIn.withOptions({ team: login.team });
  const value = { name: secret, value: tokens.access_token };
  await client.secrets.create(value).catch(async (error: unknown) => {
    if (!(error instanceof APIError) || error.detail?.includes("delete it first") !== true) throw error;
    await client.secrets.delete(secret);
    await client.secrets.create(value);
  });
  const expires_at =
    tokens.expires_in === undefined ? undefined : new Date(Date.now() + tokens.expires_in * 1000).toISOString();
  context.show({ secret, file, ...(expires_at === undefined ? {} : { expires_at }) }, () => {
    context.say(`The token is stored as ${secret}. A run that names the secret uses it in headers.authorization:`);
    context.say(`  "Bearer \${${secret}}"`);
    if (expires_at !== undefined) context.say(`It expires ${timeText(expires_at)}: runyard mcp refresh ${secret}`);
  });
}

interface Callback extends AsyncDisposable {
  readonly redirectUri: string;
  /** Resolves with the code that the browser brings. */
  receive(request: CodeRequest, issuer: string): Promise<string>;
}

/** Waits at this machine for the browser to return from the authorization server. */
async function listenForCode(port: number): Promise<Callback> {
  const returned = Promise.withResolvers<URLSearchParams>();
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://127.0.0.1");
    if (pathname !== "/callback") return void response.writeHead(404).end();
    response.writeHead(200, { "content-type": "text/plain; charset=utf-8", connection: "close" });
    response.end("You can close this page and return to the terminal.");
    returned.resolve(searchParams);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => reject(new Problem(`Cannot listen on port ${port}: ${error.message}`)));
    server.listen(port, "127.0.0.1", resolve);
  });
  const address = server.address();
  const redirectUri = `http://127.0.0.1:${typeof address === "object" ? address?.port : port}/callback`;
  return {
    redirectUri,
    async receive({ state }, issuer) {
      const timer = setTimeout(() => returned.reject(new Problem("Nobody signed in within 10 minutes.")), SIGN_IN_MS);
      const query = await returned.promise.finally(() => clearTimeout(timer));
      if (query.get("state") !== state)
        throw new Problem("The response belongs to another sign-in. Nothing was stored.");
      if ((query.get("iss") ?? issuer) !== issuer)
        throw new Problem(`The response comes from ${query.get("iss")}, not from ${issuer}. Nothing was stored.`);
      const code = query.get("code");
      if (code === null)
        throw new Problem(`The sign-in failed: ${query.get("error_description") ?? query.get("error") ?? "no code"}`);
      return code;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}
