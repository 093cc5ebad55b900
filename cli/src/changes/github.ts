import * as v from "valibot";
import { requestGithub } from "../github-api.ts";
import { Problem } from "../problem.ts";

/** A repository on GitHub, or a server with the same API. */
export interface GithubPlace {
  /** Base URL of the API, without a trailing slash. */
  readonly apiUrl: string;
  readonly owner: string;
  readonly name: string;
  readonly token: string;
}

export interface PullRequest {
  readonly title: string;
  readonly head: string;
  readonly base: string;
  readonly body: string;
  readonly draft: boolean;
}

export async function fetchDefaultBranch(place: GithubPlace): Promise<string> {
  const repository = v.safeParse(v.object({ default_branch: v.string() }), await callGithub(place, ""));
  if (!repository.success)
    throw new Problem(`GitHub does not name the default branch of ${place.owner}/${place.name}.`);
  return repository.output.default_branch;
}

/** Opens a pull request and returns its address. */
export async function openPullRequest(place: GithubPlace, pullRequest: PullRequest): Promise<string> {
  const created = v.safeParse(v.object({ html_url: v.string() }), await callGithub(place, "/pulls", pullRequest));
  if (!created.success) throw new Problem("GitHub's response does not name the pull request.");
  return created.output.html_url;
}

const callGithub = ({ apiUrl, owner, name, token }: GithubPlace, path: string, body?: object): Promise<unknown> =>
  requestGithub({
    url: `${apiUrl}/repos/${encodeURIComponent(owner)}/${encodeURIComponent(name)}${path}`,
    token,
    ...(body === undefined ? {} : { method: "POST", body }),
    remedy: "Check that the token may write to the contents and pull requests of the repository.",
  });
