import type { GithubApi } from "./github-api.ts";
import type { AppRepository, GithubApp } from "./github-app.ts";

/** GitHub's API and the deployment's credentials for it. */
export interface Github extends GithubApi {
  /** The deployment's GitHub App, if it has one. It takes precedence over the token. */
  readonly app?: GithubApp | undefined;
  /** The deployment's own token, if it has one. */
  readonly token: () => Promise<string | undefined>;
}

export interface GithubRepository extends AppRepository {
  /** A branch, tag or commit. @default the default branch */
  readonly ref?: string | undefined;
  /** A token in the repository's own URL, which takes precedence over the deployment's credentials. */
  readonly token?: string | undefined;
  /** The teams of the reader, whose installations of the App are used. */
  readonly teams: readonly string[];
}

/** The credential for one repository. */
export interface Access {
  /** Undefined for requests without a credential. */
  readonly token: string | undefined;
  /** Why GitHub may hide an existing repository, and what to do. */
  readonly ifHidden: string;
  /** Called where GitHub refuses a request with this credential. */
  readonly refused: () => void;
}

/** Chooses the token in the repository's URL, else one of the App, else the deployment's, else none. */
export async function chooseAccess({ owner, repo, token, teams }: GithubRepository, github: Github): Promise<Access> {
  const access = (credential: string | undefined, ifHidden: string): Access => ({
    token: credential,
    ifHidden,
    refused: () => {},
  });
  if (token !== undefined) return access(token, "the token in its URL may not read it");
  const { app } = github;
  const appToken = await app?.tokenFor({ owner, repo }, teams);
  if (app !== undefined && appToken !== undefined) {
    return {
      ...access(appToken, "this deployment's GitHub App may not read it"),
      refused: () => app.forget({ owner, repo }),
    };
  }
  const own = await github.token();
  const install =
    app === undefined
      ? ""
      : `install this deployment's GitHub App for ${owner}/${repo} and claim the installation, or `;
  return own === undefined
    ? access(undefined, `it may be private, and there is no token: ${install}set one`)
    : access(own, `this deployment's token may not read it: ${install}set another`);
}
