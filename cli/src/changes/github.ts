import * as v from "valibot";
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

const TIMEOUT_MS = 30_000;

export async function fetchDefaultBranch(place: GithubPlace): Promise<string> {
  const repository = v.safeParse(v.object({ default_branch: v.string() }), await callGithub(place, ""));
  if (!repository.success)
    throw new Problem(`GitHub does not name the default branch of ${place.owner}/${place.name}.`);
  return repository.output.default_branch;
}

/** Opens a pull request and returns its address. */
export async function openPullRequest(place: GithubPlace, pullRequest: PullRequest): Promise<string> {
  const made = v.safeParse(v.object({ html_url: v.string() }), await callGithub(place, "/pulls", pullRequest));
  if (!made.success) throw new Problem("GitHub's response does not name the pull request.");
  return made.output.html_url;
}

async function callGithub({ apiUrl, owner, name, token }: GithubPlace, path: string, body?: object): Promise<unknown> {
  const url = `${apiUrl}/repos/${encodeURIComponent(owner)}/${encodeURIComponent(name)}${path}`;
  const headers = {
    authorization: `Bearer ${token}`,
    accept: "application/vnd.github+json",
    "x-github-api-version": "2022-11-28",
    "user-agent": "runyard",
  };
  const response = await fetch(url, {
    headers: body === undefined ? headers : { ...headers, "content-type": "application/json" },
    ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
    redirect: "error",
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).catch((error: unknown) => {
    throw new Problem(
      `GitHub's API at ${apiUrl} could not be reached: ${error instanceof Error ? error.message : error}`,
    );
  });
  const text = await response.text();
  if (response.ok) return parse(text);
  throw new Problem(`GitHub refused (${response.status}): ${describe(text)}`, {
    ...(response.status === 401 || response.status === 403 || response.status === 404
      ? { remedy: "Check that the token may write to the contents and pull requests of the repository." }
      : {}),
  });
}

const Refusal = v.object({
  message: v.string(),
  errors: v.optional(v.array(v.object({ message: v.optional(v.string(), "") })), []),
});

function describe(text: string): string {
  const refusal = v.safeParse(Refusal, parse(text));
  if (!refusal.success) return text.slice(0, 300);
  const { message, errors } = refusal.output;
  return [message, ...errors.map((error) => error.message)].filter((part) => part !== "").join("; ");
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
