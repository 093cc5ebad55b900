import { createPrivateKey, type KeyObject, sign } from "node:crypto";
import * as v from "valibot";
import { logLine } from "#shared/log/log.ts";
import { askGithub, type GithubApi, GithubRefusal, outage } from "./github-api.ts";

/** Milliseconds before its end at which a token is no longer used: a look into a repository takes its time. */
const SPARE_MS = 5 * 60_000;
/** Seconds that an assertion is issued in the past, so that GitHub takes it though its clock is behind ours. */
const BACKDATED_SECONDS = 60;
/** Seconds after which an assertion ends; GitHub takes ten minutes at most, by its own clock. */
const ASSERTION_SECONDS = 9 * 60;

export interface AppRepository {
  readonly owner: string;
  readonly repo: string;
}

/** A GitHub App, by which tokens are had that open one repository each, for an hour. */
export interface GithubApp {
  /**
   * A token that reads the files of this repository and can do nothing else; undefined where the App is not installed for
   * it. Also undefined where GitHub refuses the App or its key is unusable, which the log tells.
   * @throws DiscoveryFailure where GitHub does not answer, or takes no more requests
   */
  tokenFor(repository: AppRepository): Promise<string | undefined>;
  /**
   * A token as `tokenFor` gives it, made for whoever asks and kept nowhere.
   * @throws DiscoveryFailure likewise
   */
  newToken(repository: AppRepository): Promise<AppToken | undefined>;
  /** Has the next token made anew: GitHub refused this one something. */
  forget(repository: AppRepository): void;
}

export interface AppSettings {
  /** The App's id or client id, as GitHub's page of the App shows it. */
  readonly id: string;
  /** Its private key in PEM, as GitHub gives it out; undefined where there is none. */
  readonly privateKey: () => Promise<string | undefined>;
}

export interface AppToken {
  readonly token: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** A GitHub App, which keeps its tokens in memory until shortly before they end, and nowhere else. */
export function githubApp(settings: AppSettings, api: GithubApi): GithubApp {
  const kept = new Map<string, AppToken>();
  const newToken = async (repository: AppRepository) => {
    try {
      return await makeToken(repository, settings, api);
    } catch (error) {
      if (!(error instanceof UnusableKey || error instanceof GithubRefusal)) throw error;
      const reason = error instanceof GithubRefusal ? `GitHub answers ${error.status}: ${error.said}` : error.message;
      logLine("error", "the GitHub App gives no token", { app: settings.id, repository: nameOf(repository), reason });
      return undefined;
    }
  };
  return {
    newToken,
    async tokenFor(repository) {
      for (const [name, { expiresAt }] of kept) if (expiresAt - SPARE_MS <= api.now()) kept.delete(name);
      const name = nameOf(repository);
      const before = kept.get(name);
      if (before !== undefined) return before.token;
      const made = await newToken(repository);
      if (made !== undefined) kept.set(name, made);
      return made?.token;
    },
    forget: (repository) => void kept.delete(nameOf(repository)),
  };
}

const Installation = v.object({ id: v.pipe(v.number(), v.integer()) });
const Issued = v.object({
  token: v.pipe(v.string(), v.minLength(1)),
  expires_at: v.pipe(v.string(), v.transform(Date.parse), v.finite()),
});

async function makeToken(
  { owner, repo }: AppRepository,
  { id, privateKey }: AppSettings,
  api: GithubApi,
): Promise<AppToken | undefined> {
  const token = assertion(id, readKey(await privateKey()), api.now());
  const what = `the App's installation for ${owner}/${repo}`;
  const path = `/repos/${encodeURIComponent(owner)}/${encodeURIComponent(repo)}/installation`;
  const found = await askGithub(Installation, { path, token, what }, api).catch((error: unknown) => {
    if (error instanceof GithubRefusal && isNotInstalled(error)) return undefined;
    throw error;
  });
  if (found === undefined) return undefined;
  if (!found.changed) throw outage(`GitHub's answer about ${what} is not what it documents`, api);
  // One that was renamed is led to by its number, and its old name is not one that a token can be for.
  const [, number] = /\/repositories\/(\d+)\/installation$/.exec(found.url) ?? [];
  const one = number === undefined ? { repositories: [repo] } : { repository_ids: [Number(number)] };
  const body = { ...one, permissions: { contents: "read" } };
  const tokens = `/app/installations/${found.body.id}/access_tokens`;
  const issued = await askGithub(Issued, { path: tokens, token, what, body }, api);
  if (!issued.changed) throw outage(`GitHub's answer about ${what} is not what it documents`, api);
  return { token: issued.body.token, expiresAt: issued.body.expires_at };
}

/** An App that GitHub does not know is a 404 too, but in other words. */
const isNotInstalled = ({ status, said }: GithubRefusal): boolean => status === 404 && said === "Not Found";

class UnusableKey extends Error {}

function readKey(pem: string | undefined): KeyObject {
  if (pem === undefined) throw new UnusableKey("its private key is not in its parameter");
  let key: KeyObject;
  try {
    key = createPrivateKey(pem);
  } catch {
    // What the parser says is about the bytes of a secret.
    throw new UnusableKey("its parameter does not hold a private key in PEM");
  }
  if (key.asymmetricKeyType !== "rsa") throw new UnusableKey("its private key is not one for RSA");
  return key;
}

/** The JSON Web Token by which the App itself speaks: https://docs.github.com/apps → "Generating a JSON Web Token". */
function assertion(id: string, key: KeyObject, now: number): string {
  const seconds = Math.floor(now / 1000);
  const claims = { iat: seconds - BACKDATED_SECONDS, exp: seconds + ASSERTION_SECONDS, iss: id };
  const said = [{ alg: "RS256", typ: "JWT" }, claims].map((part) => base64url(JSON.stringify(part))).join(".");
  return `${said}.${base64url(sign("RSA-SHA256", Buffer.from(said), key))}`;
}

const base64url = (content: string | Buffer): string => Buffer.from(content).toString("base64url");

/** GitHub takes case for nothing. */
const nameOf = ({ owner, repo }: AppRepository): string => `${owner}/${repo}`.toLowerCase();
