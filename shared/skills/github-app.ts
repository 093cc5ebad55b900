import { createPrivateKey, type KeyObject, sign } from "node:crypto";
import * as v from "valibot";
import { logLine } from "#shared/log/log.ts";
import { type GithubApi, GithubRefusal, requestGithub, toOutage } from "./github-api.ts";
import { TokenCache } from "./token-cache.ts";

/** Seconds that an assertion is backdated, so that GitHub accepts it where its clock is behind. */
const BACKDATED_SECONDS = 60;
/** Seconds after which an assertion expires; GitHub accepts ten minutes at most, by its own clock. */
const ASSERTION_SECONDS = 9 * 60;

export interface AppRepository {
  readonly owner: string;
  readonly repo: string;
}

/** A GitHub App, which issues tokens for one repository each that are valid for an hour. */
export interface GithubApp {
  /**
   * Returns a token that can only read the files of this repository; undefined if the App is not installed for it by an installation
   * of one of these teams, and where GitHub refuses the App or its key is unusable, which is logged.
   * @throws DiscoveryFailure if GitHub does not respond, or limits requests
   */
  tokenFor(repository: AppRepository, teams: readonly string[]): Promise<string | undefined>;
  /**
   * Returns a new token as `tokenFor` does, which is not cached.
   * @throws DiscoveryFailure likewise
   */
  newToken(repository: AppRepository, teams: readonly string[]): Promise<AppToken | undefined>;
  /** Removes the cached token of a repository, because GitHub has refused it. */
  forget(repository: AppRepository): void;
}

export interface AppSettings {
  /** The App's id or client id, as GitHub's page of the App shows it. */
  readonly id: string;
  /** Its private key in PEM, as GitHub issues it; undefined without an App. */
  readonly privateKey: () => Promise<string | undefined>;
  /** The team that may use an installation; undefined where no team may. */
  readonly ownerOf: (
    installation: number,
  ) => Promise<{ readonly team_uid: string; readonly suspended?: true } | undefined>;
}

export interface AppToken {
  readonly token: string;
  /** The installation by which it was issued. */
  readonly installation: number;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** Creates a GitHub App that caches its tokens in memory until shortly before they expire, and stores them nowhere else. */
export function githubApp(settings: AppSettings, api: GithubApi): GithubApp {
  const tokens = new TokenCache<AppToken>(api.now);
  const newToken = async (repository: AppRepository, teams: readonly string[]) => {
    try {
      return await issueToken(repository, teams, settings, api);
    } catch (error) {
      if (!(error instanceof UnusableKey || error instanceof GithubRefusal)) throw error;
      const reason =
        error instanceof GithubRefusal ? `GitHub responds with ${error.status}: ${error.said}` : error.message;
      logLine("error", "the GitHub App issues no token", {
        app: settings.id,
        repository: toFullName(repository),
        reason,
      });
      return undefined;
    }
  };
  return {
    newToken,
    async tokenFor(repository, teams) {
      const name = toFullName(repository);
      const cached = tokens.get(name);
      if (cached !== undefined)
        return (await isOwnedBy(cached.installation, teams, settings)) ? cached.token : undefined;
      const issued = await newToken(repository, teams);
      if (issued !== undefined) tokens.set(name, issued);
      return issued?.token;
    },
    forget: (repository) => tokens.delete(toFullName(repository)),
  };
}

const Installation = v.object({ id: v.pipe(v.number(), v.integer()) });
const Issued = v.object({
  token: v.pipe(v.string(), v.minLength(1)),
  expires_at: v.pipe(v.string(), v.transform(Date.parse), v.finite()),
});

/** Whether one of these teams may use an installation. */
async function isOwnedBy(
  installation: number,
  teams: readonly string[],
  { ownerOf }: Pick<AppSettings, "ownerOf">,
): Promise<boolean> {
  const owner = await ownerOf(installation);
  if (owner === undefined) logLine("warn", "an installation of the GitHub App belongs to no team", { installation });
  return owner !== undefined && owner.suspended !== true && teams.includes(owner.team_uid);
}

async function issueToken(
  { owner, repo }: AppRepository,
  teams: readonly string[],
  { id, privateKey, ownerOf }: AppSettings,
  api: GithubApi,
): Promise<AppToken | undefined> {
  const token = await signAssertion({ id, privateKey }, api.now());
  const what = `the App's installation for ${owner}/${repo}`;
  const path = `/repos/${encodeURIComponent(owner)}/${encodeURIComponent(repo)}/installation`;
  const found = await requestGithub(Installation, { path, token, what }, api).catch((error: unknown) => {
    if (error instanceof GithubRefusal && isNotInstalled(error)) return undefined;
    throw error;
  });
  if (found === undefined) return undefined;
  if (!found.changed) throw toOutage(`GitHub's response about ${what} is not as documented`, api);
  if (!(await isOwnedBy(found.body.id, teams, { ownerOf }))) return undefined;
  // A renamed repository is redirected to by its number, and GitHub issues no token for the old name.
  const [, number] = /\/repositories\/(\d+)\/installation$/.exec(found.url) ?? [];
  const one = number === undefined ? { repositories: [repo] } : { repository_ids: [Number(number)] };
  return requestToken(found.body.id, { ...one, permissions: { contents: "read" } }, { token, what }, api);
}

/**
 * Requests a token of an installation by an assertion of the App.
 * @throws DiscoveryFailure if GitHub does not respond or refuses it
 */
export async function requestToken(
  installation: number,
  body: object,
  { token, what }: { readonly token: string; readonly what: string },
  api: GithubApi,
): Promise<AppToken> {
  const path = `/app/installations/${installation}/access_tokens`;
  const issued = await requestGithub(Issued, { path, token, what, body }, api);
  if (!issued.changed) throw toOutage(`GitHub's response about ${what} is not as documented`, api);
  return { token: issued.body.token, installation, expiresAt: issued.body.expires_at };
}

/** GitHub responds with 404 to an unknown App too, but with another message. */
const isNotInstalled = ({ status, said }: GithubRefusal): boolean => status === 404 && said === "Not Found";

/** The App has no private key that can sign. */
export class UnusableKey extends Error {}

function readKey(pem: string | undefined): KeyObject {
  if (pem === undefined) throw new UnusableKey("its private key is not in its parameter");
  let key: KeyObject;
  try {
    key = createPrivateKey(pem);
  } catch {
    // The parser's message may quote bytes of the secret.
    throw new UnusableKey("its parameter does not hold a private key in PEM");
  }
  if (key.asymmetricKeyType !== "rsa") throw new UnusableKey("its private key is not an RSA key");
  return key;
}

/**
 * The JSON Web Token that authenticates the App itself: https://docs.github.com/apps → "Generating a JSON Web Token".
 * @throws UnusableKey
 */
export async function signAssertion(
  { id, privateKey }: Pick<AppSettings, "id" | "privateKey">,
  now: number,
): Promise<string> {
  const key = readKey(await privateKey());
  const seconds = Math.floor(now / 1000);
  const claims = { iat: seconds - BACKDATED_SECONDS, exp: seconds + ASSERTION_SECONDS, iss: id };
  const content = [{ alg: "RS256", typ: "JWT" }, claims].map((part) => base64url(JSON.stringify(part))).join(".");
  return `${content}.${base64url(sign("RSA-SHA256", Buffer.from(content), key))}`;
}

const base64url = (content: string | Buffer): string => Buffer.from(content).toString("base64url");

/** GitHub ignores case. */
const toFullName = ({ owner, repo }: AppRepository): string => `${owner}/${repo}`.toLowerCase();
