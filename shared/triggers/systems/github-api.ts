import * as v from "valibot";
import { isMarked, toMarker } from "./marker.ts";
import { type ApiAccess, callApi, ignoreMissing, SystemFailure, toPath } from "./system-api.ts";
import type { Place, PutReply, ReadPull, SetStatus, SystemResult } from "./system-request.ts";

/** Comments of one request, and requests of one search. */
const PAGE = 50;
const MAX_PAGES = 20;

/** `maintain` is reported as `write`, and `triage` as `read`. */
const Permission = v.object({ permission: v.string() });

/**
 * Whether an account may write to a repository.
 * @see https://docs.github.com/en/rest/collaborators/collaborators#get-repository-permissions-for-a-user
 */
export async function hasGithubAccess(repository: string, login: string, access: ApiAccess): Promise<boolean> {
  const path = `/repos/${toPath(repository)}/collaborators/${encodeURIComponent(login)}/permission`;
  const found = await ignoreMissing(callGithub({ path, schema: Permission }, access));
  return found?.permission === "admin" || found?.permission === "write";
}

/**
 * Adds a reaction; the same one of the same account exists once.
 * @see https://docs.github.com/en/rest/reactions/reactions
 */
export async function reactOnGithub({ container, item }: Place, access: ApiAccess): Promise<void> {
  const path = `/repos/${toPath(container)}/${toPath(item)}/reactions`;
  await callGithub({ method: "POST", path, body: { content: "eyes" }, schema: v.unknown() }, access);
}

const Comment = v.object({ id: v.number(), body: v.optional(v.nullable(v.string()), "") });

/**
 * Creates the comment of a run, or changes it. One that a person has deleted stays deleted.
 * @see https://docs.github.com/en/rest/issues/comments
 */
export async function putGithubReply(reply: PutReply, access: ApiAccess): Promise<string> {
  const { container, item } = reply.place;
  const body = { body: `${reply.text}\n\n${toMarker(reply.nonce)}` };
  const issue = `/repos/${toPath(container)}/issues/${encodeURIComponent(item)}/comments`;
  const id = reply.post_id ?? (await findComment(issue, reply, access));
  if (id === undefined) {
    return String((await callGithub({ method: "POST", path: issue, body, schema: Comment }, access)).id);
  }
  const path = `/repos/${toPath(container)}/issues/comments/${encodeURIComponent(id)}`;
  await ignoreMissing(callGithub({ method: "PATCH", path, body, schema: Comment }, access));
  return id;
}

/** Finds the comment of a post whose response was lost. */
async function findComment(
  issue: string,
  { posted_since, nonce }: PutReply,
  access: ApiAccess,
): Promise<string | undefined> {
  if (posted_since === undefined) return undefined;
  for (let page = 1; page <= MAX_PAGES; page++) {
    const path = `${issue}?since=${encodeURIComponent(posted_since)}&per_page=${PAGE}&page=${page}`;
    const comments = await callGithub({ path, schema: v.array(Comment) }, access);
    const own = comments.find(({ body }) => isMarked(body ?? "") && body?.includes(toMarker(nonce)));
    if (own !== undefined) return String(own.id);
    if (comments.length < PAGE) return undefined;
  }
  throw new SystemFailure("there are too many comments on GitHub to find the one of this run");
}

const Pull = v.object({
  head: v.object({ sha: v.string(), ref: v.string(), repo: v.optional(v.nullable(v.object({ id: v.number() }))) }),
  base: v.object({ repo: v.object({ id: v.number() }) }),
});

/** The head of a pull request. That of a deleted fork has no repository. */
export async function readGithubPull(
  { repository, pull }: ReadPull,
  access: ApiAccess,
): Promise<NonNullable<SystemResult["head"]> | undefined> {
  const path = `/repos/${toPath(repository)}/pulls/${encodeURIComponent(pull)}`;
  const found = await ignoreMissing(callGithub({ path, schema: Pull }, access));
  return found && { branch: found.head.ref, is_fork: found.head.repo?.id !== found.base.repo.id };
}

/**
 * Sets the status of the head commit of a pull request, and of the one that had it before. Returns the head commit.
 * @see https://docs.github.com/en/rest/commits/statuses
 */
export async function setGithubStatus(status: SetStatus, access: ApiAccess): Promise<string> {
  const repository = `/repos/${toPath(status.repository)}`;
  const sha = await readHeadCommit(status, access);
  const { state, context, description, url } = status;
  const body = { state, context, description, ...(url === undefined ? {} : { target_url: url }) };
  for (const commit of new Set([status.sha ?? sha, sha])) {
    const target = `${repository}/statuses/${encodeURIComponent(commit)}`;
    await callGithub({ method: "POST", path: target, body, schema: v.unknown() }, access);
  }
  return sha;
}

/** Reads the head commit of a pull request. */
export async function readHeadCommit(
  { repository, pull }: Pick<SetStatus, "repository" | "pull">,
  access: ApiAccess,
): Promise<string> {
  const path = `/repos/${toPath(repository)}/pulls/${encodeURIComponent(pull)}`;
  return (await callGithub({ path, schema: Pull }, access)).head.sha;
}

interface GithubCall<T> {
  readonly method?: "POST" | "PATCH";
  readonly path: string;
  readonly body?: object;
  readonly schema: v.GenericSchema<unknown, T>;
}

export const callGithub = <T>({ path, ...call }: GithubCall<T>, { address, token, fetch }: ApiAccess): Promise<T> =>
  callApi(
    {
      ...call,
      url: `${address}${path}`,
      headers: {
        accept: "application/vnd.github+json",
        authorization: `Bearer ${token}`,
        "x-github-api-version": "2022-11-28",
      },
      name: "GitHub",
    },
    fetch,
  );
