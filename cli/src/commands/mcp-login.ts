import path from "node:path";
import { Command } from "@commander-js/extra-typings";
import * as v from "valibot";
import { APIError } from "../../../clients/typescript/src/index.ts";
import { listenForCallback } from "../browser-callback.ts";
import { loginFile } from "../connection.ts";
import type { Context } from "../context.ts";
import { defined } from "../defined.ts";
import { readJsonFile, removeFile, writePrivately } from "../files.ts";
import {
  type CodeRequest,
  createCodeRequest,
  discoverAuthorization,
  type McpAuthorization,
  registerClient,
  requestTokens,
  type Tokens,
} from "../mcp-oauth.ts";
import { wholeNumber } from "../options.ts";
import { Problem, usage } from "../problem.ts";
import { withExamples } from "./examples.ts";

/** What a refresh needs. It is on this machine only where the service does not renew tokens; runs never get it. */
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
const SECRET_NAME = /^[\w.-]{1,128}$/;

/** `runyard mcp login`: signs in to an MCP server, and stores its access token as a secret. */
export function mcpLoginCommand(context: Context) {
  const command = new Command("login")
    .description("sign in to an MCP server with OAuth, and store its access token as a secret of your team")
    .argument("<url>", "URL of the MCP server, as in mcp_servers")
    .requiredOption("--secret <name>", "name of the secret; one of this name is replaced")
    .option("--client-id <id>", "id of a client that the server knows (default: one is registered)")
    .option(
      "--port <number>",
      "port of this machine to which the browser returns (default: a free one)",
      wholeNumber(0, 65_535),
    )
    .action(async (url, { secret, clientId, port = 0 }) => {
      if (!SECRET_NAME.test(secret)) throw usage(`--secret takes the name of a secret, not "${secret}".`);
      const authorization = await discoverAuthorization(url);
      await using callback = await listenForCallback(port, { read: (query) => query });
      const client = await chooseClient(authorization, clientId, callback.redirectUrl);
      const request = createCodeRequest(authorization, client, callback.redirectUrl);
      context.note(`Open this address in a browser on this machine: ${request.url}`);
      const query = await callback.receive(SIGN_IN_MS, "Nobody signed in within 10 minutes.");
      const tokens = await requestTokens(authorization.tokenEndpoint, client, {
        grant_type: "authorization_code",
        code: readCode(query, request, authorization.issuer),
        redirect_uri: callback.redirectUrl,
        code_verifier: request.verifier,
        resource: authorization.resource,
      });
      const { baseURL } = await context.connection();
      const team = await context.team();
      const { tokenEndpoint: token_endpoint, resource } = authorization;
      const login = defined({ url, base_url: baseURL, team, token_endpoint, resource });
      await storeTokens(context, secret, tokens, { ...login, ...client });
    });
  return withExamples(command, "runyard mcp login https://mcp.example.com/mcp --secret TRACKER_TOKEN");
}

/** `runyard mcp refresh`: replaces an access token. */
export function mcpRefreshCommand(context: Context) {
  const command = new Command("refresh")
    .description("replace the access token of an MCP server without a browser, if the service does not renew it")
    .argument("<secret>", "name of the secret that `runyard mcp login` stored")
    .action(async (secret) => {
      const login = SECRET_NAME.test(secret) ? await readJsonFile(loginPath(context, secret), StoredLogin) : undefined;
      if (login === undefined)
        throw usage(
          `This machine has no login for the secret ${secret}.`,
          "The service itself renews the tokens of `runyard mcp login`: see `runyard secrets get`, or sign in again.",
        );
      const again = `Sign in again: \`runyard mcp login ${login.url} --secret ${secret}\`.`;
      const { baseURL } = await context.connection(context.baseURL ?? login.base_url);
      if (baseURL !== login.base_url)
        throw usage(`The secret ${secret} belongs to ${login.base_url}, not to ${baseURL}.`, again);
      if (login.refresh_token === undefined)
        throw new Problem(`${new URL(login.url).host} gave no refresh token.`, { remedy: again });
      const grant = { grant_type: "refresh_token", refresh_token: login.refresh_token, resource: login.resource };
      const tokens = await requestTokens(login.token_endpoint, login, grant).catch((error: unknown) => {
        throw error instanceof Problem ? new Problem(error.message, { remedy: again }) : error;
      });
      await storeTokens(context, secret, tokens, login);
    });
  return withExamples(command, "runyard mcp refresh TRACKER_TOKEN");
}

const loginPath = ({ shell }: Context, secret: string): string =>
  path.join(path.dirname(loginFile(shell)), "mcp", `${secret}.json`);

async function chooseClient(
  { registrationEndpoint, issuer }: McpAuthorization,
  clientId: string | undefined,
  redirectUri: string,
) {
  if (clientId !== undefined) return { client_id: clientId };
  if (registrationEndpoint === undefined)
    throw usage(
      `${issuer} does not register clients on request.`,
      `Create a public client with the redirect URI ${redirectUri}, and pass its id as --client-id and the port as --port.`,
    );
  return await registerClient(registrationEndpoint, redirectUri);
}

/**
 * Stores the access token as a secret that the service renews. A service that does not renew tokens leaves the refresh token on this
 * machine, which has it first: the server has already invalidated the former one.
 */
async function storeTokens(context: Context, secret: string, tokens: Tokens, login: StoredLogin): Promise<void> {
  const file = loginPath(context, secret);
  await writePrivately(file, { ...login, ...defined({ refresh_token: tokens.refresh_token }) });
  const signedIn = await context.client();
  const client = login.team === undefined ? signedIn : signedIn.withOptions({ team: login.team });
  const value = { name: secret, value: tokens.access_token, ...toRenewal(tokens, login) };
  const stored = await client.secrets.create(value).catch(async (error: unknown) => {
    if (!(error instanceof APIError) || error.detail?.includes("delete it first") !== true) throw error;
    await client.secrets.delete(secret);
    return await client.secrets.create(value);
  });
  const isRenewed = stored.renewal !== undefined;
  if (isRenewed) await removeFile(file);
  const expires_at =
    tokens.expires_in === undefined ? undefined : new Date(Date.now() + tokens.expires_in * 1000).toISOString();
  const where = isRenewed ? { renewed_by: "service" as const } : { file };
  context.show(defined({ secret, ...where, expires_at }), () => {
    context.say(`The token is stored as ${secret}. A run that names the secret uses it in headers.authorization:`);
    context.say(`  "Bearer \${${secret}}"`);
    if (isRenewed) context.say("The service renews it before runs start, and when a server refuses it.");
    else if (expires_at !== undefined)
      context.say(`It expires ${context.timeText(expires_at)}: runyard mcp refresh ${secret}`);
  });
}

/** What the service needs to renew the token; nothing where the server gave no refresh token. */
function toRenewal({ refresh_token, expires_in }: Tokens, { url, token_endpoint, resource, ...login }: StoredLogin) {
  if (refresh_token === undefined) return {};
  const { client_id, client_secret } = login;
  const target = { server_url: url, token_endpoint, resource };
  return { renewal: defined({ ...target, client_id, client_secret, refresh_token, expires_in }) };
}

/** Returns the code of a redirect, if the redirect belongs to the request and comes from its issuer. */
function readCode(query: URLSearchParams, { state }: CodeRequest, issuer: string): string {
  if (query.get("state") !== state) throw new Problem("The response belongs to another sign-in. Nothing was stored.");
  if ((query.get("iss") ?? issuer) !== issuer)
    throw new Problem(`The response comes from ${query.get("iss")}, not from ${issuer}. Nothing was stored.`);
  const code = query.get("code");
  if (code === null)
    throw new Problem(`The sign-in failed: ${query.get("error_description") ?? query.get("error") ?? "no code"}`);
  return code;
}
