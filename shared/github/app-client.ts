import * as v from "valibot";
import { RunyardError } from "#shared/errors.ts";
import { logLine } from "#shared/log/log.ts";
import { DiscoveryFailure } from "#shared/skills/discovery-failure.ts";
import { type GithubApi, GithubRefusal, requestGithub } from "#shared/skills/github-api.ts";
import { type AppSettings, signAssertion, UnusableKey } from "#shared/skills/github-app.ts";
import { GithubAccount, RepositorySelection } from "#shared/wire/github/installation.ts";
import { toWebUrl } from "./web-url.ts";

/** The deployment's GitHub App, for the requests by which a team claims an installation. */
export interface AppClient extends Pick<AppSettings, "id" | "privateKey"> {
  /** The client secret of the App; undefined where the operator has not set it. */
  readonly clientSecret: () => Promise<string | undefined>;
  readonly api: GithubApi;
}

const App = v.object({ slug: v.string(), client_id: v.string() });
const Installation = v.object({ account: GithubAccount, repository_selection: RepositorySelection });
export type GithubInstallation = v.InferOutput<typeof Installation>;
const UserToken = v.object({ access_token: v.pipe(v.string(), v.minLength(1)) });
const User = v.object({ id: v.number() });
const Membership = v.object({ state: v.string(), role: v.string(), organization: v.object({ id: v.number() }) });

/** Reads the App's name and client id. */
export const readApp = (client: AppClient): Promise<v.InferOutput<typeof App>> =>
  callAsApp(App, { path: "/app", what: "the App" }, client);

/** Reads an installation of the App; undefined where it has none of this id. */
export async function readInstallation(id: number, client: AppClient): Promise<GithubInstallation | undefined> {
  const what = `the installation ${id}`;
  return ignoreMissing(() => callAsApp(Installation, { path: `/app/installations/${id}`, what }, client));
}

/**
 * Whether the person who authorized the App with this code owns an account: it is theirs, or they are an owner of the organization. Seeing
 * the installation is no proof, since every member of an organization sees it.
 * @throws RunyardError 403 where GitHub does not accept the code
 */
export async function isOwner(code: string, { id, login, type }: GithubAccount, client: AppClient): Promise<boolean> {
  const token = await exchangeCode(code, client);
  const user = await call(User, { path: "/user", token, what: "the person" }, client.api);
  if (type === "User") return user.id === id;
  const path = `/user/memberships/orgs/${encodeURIComponent(login)}`;
  const found = await ignoreMissing(() => call(Membership, { path, token, what: "the membership" }, client.api));
  return found?.organization.id === id && found.state === "active" && found.role === "admin";
}

const JSON_TYPE = "application/json";

/** @see https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-user-access-token-for-a-github-app */
async function exchangeCode(code: string, client: AppClient): Promise<string> {
  const client_secret = await client.clientSecret();
  if (client_secret === undefined) throw notConfigured("its client secret is not set");
  const { client_id } = await readApp(client);
  const body = { client_id, client_secret, code };
  const api = { ...client.api, apiUrl: toWebUrl(client.api.apiUrl) };
  const request = { path: "/login/oauth/access_token", token: undefined, what: "the code", body, accept: JSON_TYPE };
  const reply = await call(v.union([UserToken, v.object({ error: v.string() })]), request, api);
  if ("access_token" in reply) return reply.access_token;
  throw new RunyardError("not_authorized", { detail: `code: GitHub does not accept it: ${reply.error.slice(0, 80)}` });
}

type Request = Omit<Parameters<typeof requestGithub>[1], "token" | "ifEmpty" | "etag">;

async function callAsApp<T>(schema: v.GenericSchema<unknown, T>, request: Request, client: AppClient): Promise<T> {
  const token = await signAssertion(client, client.api.now()).catch((error: unknown) => {
    throw error instanceof UnusableKey ? notConfigured(error.message) : error;
  });
  return call(schema, { ...request, token }, client.api);
}

const notConfigured = (reason: string): RunyardError =>
  new RunyardError("integration_not_configured", {
    detail: `the GitHub App of this deployment is incomplete: ${reason}`,
  });

async function call<T>(
  schema: v.GenericSchema<unknown, T>,
  request: Request & { readonly token: string | undefined },
  api: GithubApi,
): Promise<T> {
  try {
    const response = await requestGithub(schema, request, api);
    if (response.changed) return response.body;
    throw new RunyardError("resource_unavailable", { detail: `GitHub's response about ${request.what} is empty` });
  } catch (error) {
    if (!(error instanceof DiscoveryFailure) || isMissing(error)) throw error;
    logLine("warn", "GitHub did not serve a request of the GitHub App", { path: request.path, reason: error.message });
    throw new RunyardError("resource_unavailable", { detail: error.message, retryAfterSeconds: 10 });
  }
}

const isMissing = (error: unknown): boolean => error instanceof GithubRefusal && [403, 404].includes(error.status);

async function ignoreMissing<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}
