import type { InstallationTokens } from "#shared/github/installation-tokens.ts";
import type { OutwardFetch } from "#shared/oidc/outward-fetch.ts";
import { DiscoveryFailure } from "#shared/skills/discovery-failure.ts";
import type { SecretVault } from "#shared/vault/secret-vault.ts";
import { setGithubCheck } from "./check-run.ts";
import { hasGithubAccess, putGithubReply, reactOnGithub, readGithubPull, setGithubStatus } from "./github-api.ts";
import { hasGitlabAccess, putGitlabReply, reactOnGitlab } from "./gitlab-api.ts";
import { pushBranch } from "./push-branch.ts";
import { hasSlackAccess, putSlackReply, reactOnSlack, readSlackThread } from "./slack-api.ts";
import { type ApiAccess, type SystemAddresses, SystemFailure } from "./system-api.ts";
import type { CheckAccess, SystemName, SystemRequest, SystemResult } from "./system-request.ts";

/** Milliseconds for which the rights of an account are not asked for again. */
const ACCESS_MS = 60_000;
/** Accounts whose rights are in the cache. */
const MAX_CACHED = 1_000;

/** Ports of the function that calls other systems. It has no table. */
export interface SystemPorts {
  readonly vault: Pick<SecretVault, "getAll">;
  readonly fetch: OutwardFetch;
  /** Issues tokens of installations of the deployment's GitHub App. @default it has none */
  readonly appTokens?: InstallationTokens | undefined;
  /** Sends the requests of pushes, which are larger and take longer. */
  readonly objectFetch: OutwardFetch;
  /** Sends requests to token endpoints, whose addresses teams choose. */
  readonly tokenFetch: OutwardFetch;
  readonly addresses: SystemAddresses;
  readonly now: () => number;
  /** Rights of accounts by the request for them, for a minute. */
  readonly accessCache: Map<string, { readonly hasAccess: boolean; readonly until: number }>;
}

/** Carries out a request with the team's secret. */
export async function callSystem(request: SystemRequest, ports: SystemPorts): Promise<SystemResult> {
  try {
    const token = await readToken(request, ports);
    if (token === undefined) return { failure: "the secret of the credential has no value" };
    return await performAgain(request, token.trim(), ports);
  } catch (error) {
    if (!(error instanceof SystemFailure) && !(error instanceof DiscoveryFailure)) throw error;
    return { failure: error.message.slice(0, 300) };
  }
}

/** Performs a request, once more with a new token where GitHub refuses a cached one of an installation, which may have been revoked. */
async function performAgain(request: SystemRequest, token: string, ports: SystemPorts): Promise<SystemResult> {
  const access = { address: ports.addresses[toSystem(request)], token, fetch: ports.fetch };
  try {
    return await perform(request, access, ports);
  } catch (error) {
    const isRefused = error instanceof SystemFailure && error.status === 401;
    if (!isRefused || request.secret_id !== undefined) throw error;
    const renewed = await readToken(request, ports, token);
    return await perform(request, { ...access, token: renewed ?? "" }, ports);
  }
}

/** The permissions that each request needs of an installation of the GitHub App, and no others. */
const PERMISSIONS = {
  check_access: { metadata: "read" },
  react: { issues: "write", pull_requests: "write" },
  put_reply: { issues: "write", pull_requests: "write" },
  set_check: { checks: "write", pull_requests: "read" },
  set_status: { statuses: "write", pull_requests: "read" },
  read_pull: { pull_requests: "read" },
  // A request to Slack, which has no installations.
  read_thread: {},
  push_branch: { contents: "write" },
} as const satisfies Record<SystemRequest["action"], Record<string, string>>;

/** @param refused a token of the installation that GitHub does not accept */
async function readToken(request: SystemRequest, ports: SystemPorts, refused?: string): Promise<string | undefined> {
  const { team_uid, secret_id, installation_id: installation, tokens_from: issuedFrom } = request;
  if (secret_id !== undefined) return (await ports.vault.getAll(team_uid, [secret_id])).get(secret_id);
  if (installation === undefined) throw new SystemFailure("the request has no credential");
  if (ports.appTokens === undefined) throw new SystemFailure("this deployment has no GitHub App");
  const grant = { installation, repository: toRepository(request), permissions: PERMISSIONS[request.action] };
  return ports.appTokens(grant, { issuedFrom, ...(refused === undefined ? {} : { refused }) });
}

function toRepository(request: SystemRequest): string {
  if (request.action === "check_access") return request.place;
  return "repository" in request ? request.repository : request.place.container;
}

function toSystem(request: SystemRequest): SystemName {
  const { action } = request;
  if (action === "set_status" || action === "set_check" || action === "read_pull") return "github";
  return "system" in request ? request.system : request.place.system;
}

const REACTIONS = { github: reactOnGithub, gitlab: reactOnGitlab, slack: reactOnSlack };
const REPLIES = { github: putGithubReply, gitlab: putGitlabReply, slack: putSlackReply };

async function perform(request: SystemRequest, access: ApiAccess, ports: SystemPorts): Promise<SystemResult> {
  switch (request.action) {
    case "check_access":
      return { has_access: await checkAccess(request, access, ports) };
    case "react":
      await REACTIONS[request.place.system](request.place, access);
      return {};
    case "put_reply":
      return { post_id: await REPLIES[request.place.system](request, access) };
    case "set_check":
      return { sha: await setGithubCheck(request, access) };
    case "set_status":
      return { sha: await setGithubStatus(request, access) };
    case "read_pull": {
      const head = await readGithubPull(request, access);
      return head === undefined ? {} : { head };
    }
    case "read_thread":
      return { messages: await readSlackThread(request, access) };
    case "push_branch":
      return { pushed: await pushBranch(request, { ...access, fetch: ports.objectFetch }) };
  }
}

const CHECKS = { github: hasGithubAccess, gitlab: hasGitlabAccess, slack: hasSlackAccess };

async function checkAccess(
  request: CheckAccess,
  access: ApiAccess,
  { accessCache, now }: SystemPorts,
): Promise<boolean> {
  const { system, place, account } = request;
  const key = JSON.stringify(request);
  const cached = accessCache.get(key);
  if (cached !== undefined && cached.until > now()) return cached.hasAccess;
  const hasAccess = await CHECKS[system](place, account, access);
  if (accessCache.size >= MAX_CACHED) accessCache.clear();
  accessCache.set(key, { hasAccess, until: now() + ACCESS_MS });
  return hasAccess;
}
