import * as v from "valibot";
import type { ControlPlane } from "../../control-plane/control-plane.ts";
import { getJson, type HttpResponse, postJson } from "../../control-plane/http.ts";
import { defineTool, type Tool } from "../../engine/tool.ts";
import type { Redactor } from "../../redaction/redactor.ts";
import { parseJson } from "../../support/parse-json.ts";
import { toWellFormed } from "../../support/text-limits.ts";
import { findGithubRepository, type GithubAccess, type GithubRepository } from "./github-token.ts";
import { catchRefusal } from "./refused-call.ts";

export interface PullRequestOptions {
  readonly plane: Pick<ControlPlane, "reportArtifact">;
  readonly redactor: Redactor;
  readonly github: GithubAccess;
}

const RESPONSE_MS = 30_000;
const BODY_BYTES = 65_536;

/** Creates the tool that opens a pull request on GitHub, or finds the open one of the branch, and reports it as an artifact. */
export const createPullRequestTool = ({ plane, redactor, github }: PullRequestOptions): Tool =>
  defineTool({
    name: "create_pull_request",
    description:
      "Opens a pull request on GitHub for a branch that you have pushed, and shows it to the user of this run. If the branch already has an " +
      "open pull request, returns that one. Requires a GitHub token in the secrets of the run's environment.",
    category: "review",
    readsOnly: false,
    input: v.object({
      repository: v.optional(
        v.pipe(
          v.string(),
          v.nonEmpty(),
          v.description("owner/repo. Default: the run's repository, if it has only one."),
        ),
      ),
      branch: v.pipe(v.string(), v.nonEmpty(), v.maxLength(256), v.description("The pushed branch with your changes.")),
      base: v.optional(
        v.pipe(
          v.string(),
          v.nonEmpty(),
          v.maxLength(256),
          v.description("The branch to merge into. Default: the repository's default branch."),
        ),
      ),
      title: v.pipe(v.string(), v.nonEmpty(), v.maxLength(256)),
      body: v.optional(
        v.pipe(v.string(), v.maxLength(BODY_BYTES), v.description("What was changed and why, in Markdown.")),
      ),
      draft: v.optional(v.boolean()),
    }),
    run: ({ repository, branch, ...input }, { signal }) =>
      catchRefusal(async () => {
        const place = findGithubRepository(repository, github);
        const clean = (text: string) => redactor.text(toWellFormed(text));
        const base = input.base ?? (await fetchDefaultBranch(place, signal));
        const request = {
          head: branch,
          base,
          title: clean(input.title),
          body: clean(input.body ?? ""),
          ...(input.draft === undefined ? {} : { draft: input.draft }),
        };
        const { url, number, status, isNew } = await openPullRequest(place, request, signal);
        await plane.reportArtifact({ artifact_type: "PULL_REQUEST", data: { url, branch, status } });
        return { output: { url, number, base, ...(isNew ? {} : { already_open: true }) } };
      }),
  });

const Pull = v.object({ html_url: v.string(), number: v.number(), draft: v.optional(v.boolean(), false) });
const Problem = v.object({
  message: v.optional(v.string(), ""),
  errors: v.optional(v.array(v.object({ message: v.optional(v.string(), ""), field: v.optional(v.string(), "") })), []),
});

interface PullRequest {
  readonly head: string;
  readonly base: string;
  readonly title: string;
  readonly body: string;
  readonly draft?: boolean;
}

async function openPullRequest(place: GithubRepository, request: PullRequest, signal: AbortSignal) {
  const response = await callGithub(place, "/pulls", signal, request);
  if (response.status === 201) return { ...toOpenPull(v.parse(Pull, parseJson(response.text))), isNew: true };
  const refusal = describeRefusal(response);
  if (response.status === 422 && /already exists/i.test(refusal)) {
    const head = request.head.includes(":") ? request.head : `${place.owner}:${request.head}`;
    const query = new URLSearchParams({ head, base: request.base, state: "open" });
    const [found] = v.parse(v.array(Pull), parseJson((await callGithub(place, `/pulls?${query}`, signal)).text));
    if (found !== undefined) return { ...toOpenPull(found), isNew: false };
  }
  const hint = response.status === 422 && /head/.test(refusal) ? "; has the branch been pushed?" : "";
  throw new Error(`GitHub returned ${response.status}: ${refusal}${hint}`);
}

/** Describes a pull request that has just been created, or found among the open ones. */
const toOpenPull = ({ html_url: url, number, draft }: v.InferOutput<typeof Pull>) => {
  const status = draft ? ("draft" as const) : ("open" as const);
  return { url, number, status };
};

async function fetchDefaultBranch(place: GithubRepository, signal: AbortSignal): Promise<string> {
  const response = await callGithub(place, "", signal);
  if (response.status !== 200) throw new Error(`GitHub returned ${response.status}: ${describeRefusal(response)}`);
  return v.parse(v.object({ default_branch: v.string() }), parseJson(response.text)).default_branch;
}

function callGithub(
  { apiUrl, owner, name, token }: GithubRepository,
  path: string,
  signal: AbortSignal,
  body?: unknown,
): Promise<HttpResponse> {
  const url = `${apiUrl}/repos/${encodeURIComponent(owner)}/${encodeURIComponent(name)}${path}`;
  const headers = {
    authorization: `Bearer ${token}`,
    accept: "application/vnd.github+json",
    "x-github-api-version": "2022-11-28",
    "user-agent": "runyard",
  };
  const limited = AbortSignal.any([signal, AbortSignal.timeout(RESPONSE_MS)]);
  return body === undefined ? getJson(url, headers, limited) : postJson(url, headers, JSON.stringify(body), limited);
}

function describeRefusal(response: HttpResponse): string {
  const problem = v.safeParse(Problem, parseJson(response.text));
  if (!problem.success) return response.text.slice(0, 300);
  const { message, errors } = problem.output;
  return [message, ...errors.map((error) => error.message || `${error.field} is not valid`)].join("; ").slice(0, 500);
}
