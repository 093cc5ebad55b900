import { DiscoveryFailure } from "#shared/skills/discovery-failure.ts";
import type { GithubApi } from "#shared/skills/github-api.ts";
import {
  type AppSettings,
  type AppToken,
  requestToken,
  signAssertion,
  UnusableKey,
} from "#shared/skills/github-app.ts";
import { TokenCache } from "#shared/skills/token-cache.ts";

/** What a token of an installation is for. */
interface TokenRequest {
  readonly installation: number;
  /** The only repository that the token opens, as `owner/name`. */
  readonly repository: string;
  readonly permissions: Readonly<Record<string, string>>;
}

/** Which of the cached tokens are used. */
interface TokenAge {
  /** The time, in milliseconds, since when they have to be issued. @default all are used */
  readonly issuedFrom?: number | undefined;
  /** A token that GitHub has refused. */
  readonly refused?: string;
}

/**
 * Returns a token of an installation of the deployment's GitHub App. The caller has checked which team has the installation.
 * @throws DiscoveryFailure if GitHub does not respond or refuses it, and where the App is incomplete
 */
export type InstallationTokens = (request: TokenRequest, age?: TokenAge) => Promise<string>;

interface IssuedToken extends AppToken {
  readonly issuedAt: number;
}

/** Issues tokens that are cached in memory until shortly before they expire. */
export function createInstallationTokens(
  settings: Pick<AppSettings, "id" | "privateKey">,
  api: GithubApi,
): InstallationTokens {
  const tokens = new TokenCache<IssuedToken>(api.now);
  return async (request, { issuedFrom = 0, refused } = {}) => {
    const key = JSON.stringify(request);
    const cached = tokens.get(key);
    if (cached !== undefined && cached.issuedAt >= issuedFrom && cached.token !== refused) return cached.token;
    tokens.delete(key);
    const issuedAt = api.now();
    const { installation, repository, permissions } = request;
    const token = await signAssertion(settings, api.now()).catch((error: unknown) => {
      if (!(error instanceof UnusableKey)) throw error;
      throw new DiscoveryFailure("external_authentication_required", `the GitHub App: ${error.message}`, api.now());
    });
    const repositories = [repository.split("/").at(-1)];
    const what = `the App's installation for ${repository}`;
    const issued = await requestToken(installation, { repositories, permissions }, { token, what }, api);
    tokens.set(key, { ...issued, issuedAt });
    return issued.token;
  };
}
