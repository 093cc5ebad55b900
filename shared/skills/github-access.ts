import type { GithubApi } from "./github-api.ts";
import type { AppRepository, GithubApp } from "./github-app.ts";

/** What is needed of GitHub to look into repositories: its API, and what this deployment has to show there. */
export interface Github extends GithubApi {
  /** The deployment's GitHub App, if it has one. It goes before the token. */
  readonly app?: GithubApp | undefined;
  /** The deployment's own token, if it has one. */
  readonly token: () => Promise<string | undefined>;
}

export interface GithubRepository extends AppRepository {
  /** A branch, tag or commit. @default the default branch */
  readonly ref?: string | undefined;
  /** A token in the repository's own URL, which goes before all that the deployment has. */
  readonly token?: string | undefined;
}

/** By what GitHub is asked about one repository. */
export interface Access {
  /** Undefined where GitHub is asked as nobody. */
  readonly token: string | undefined;
  /** Why GitHub may hide a repository that is there, and what helps. */
  readonly ifHidden: string;
  /** To be called where GitHub refuses what it was asked for. */
  readonly refused: () => void;
}

/** The token in the repository's URL, else one of the App, else the deployment's, else none. */
export async function accessTo({ owner, repo, token }: GithubRepository, github: Github): Promise<Access> {
  const access = (by: string | undefined, ifHidden: string): Access => ({ token: by, ifHidden, refused: () => {} });
  if (token !== undefined) return access(token, "the token in its URL may not read it");
  const { app } = github;
  const ofApp = await app?.tokenFor({ owner, repo });
  if (app !== undefined && ofApp !== undefined) {
    return {
      ...access(ofApp, "this deployment's GitHub App may not read it"),
      refused: () => app.forget({ owner, repo }),
    };
  }
  const own = await github.token();
  const install = app === undefined ? "" : `install this deployment's GitHub App for ${owner}/${repo}, or `;
  return own === undefined
    ? access(undefined, `it may be private, and there is no token: ${install}set one`)
    : access(own, `this deployment's token may not read it: ${install}set another`);
}
