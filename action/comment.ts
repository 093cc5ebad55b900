import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import * as v from "valibot";
import { describeChanges, listChanges } from "../cli/src/changes/changes.ts";
import { quoteText } from "../cli/src/changes/pull-request-text.ts";
import { usageText } from "../cli/src/usage.ts";
import type { RunItem } from "../clients/typescript/src/index.ts";
import type { Job } from "./job.ts";
import { formatLink, markOf } from "./summary.ts";

/** Comments of one page, which is the most that GitHub sends. */
const PAGE_SIZE = 100;
const MAX_PAGES = 30;
const TIMEOUT = 10_000;

const WebhookEvent = v.object({
  pull_request: v.optional(v.object({ number: v.number() })),
  issue: v.optional(v.object({ number: v.number(), pull_request: v.optional(v.unknown()) })),
});
const Comment = v.object({
  id: v.number(),
  body: v.nullish(v.string(), ""),
  user: v.nullish(v.object({ type: v.optional(v.string()) })),
});

interface PullRequest {
  readonly token: string;
  /** Steps with the same key share a comment. */
  readonly key: string;
  readonly number: number;
}

/** The number of the pull request that the job's event is about, also if the event is a comment on it. */
export function findPullRequest({ env }: Job): number | undefined {
  const file = env["GITHUB_EVENT_PATH"];
  if (file === undefined || file === "") return undefined;
  const { pull_request, issue } = v.parse(WebhookEvent, JSON.parse(readFileSync(file, "utf8")));
  return pull_request?.number ?? (issue?.pull_request == null ? undefined : issue.number);
}

/** Writes a comment on the pull request, in place of the one that an earlier run of the same step has written. */
export async function comment(job: Job, { token, key, number }: PullRequest, text: string): Promise<void> {
  const digest = createHash("sha256").update(`${key}\n${job.env["GITHUB_ACTION"]}`).digest("hex").slice(0, 20);
  const marker = `<!-- runyard ${digest} -->`;
  const repository = `${job.env["GITHUB_API_URL"]}/repos/${job.env["GITHUB_REPOSITORY"]}`;
  const list = `${repository}/issues/${number}/comments`;
  const earlier = await findComment(list, token, marker);
  const body = { body: `${marker}\n${text}` };
  if (earlier === undefined) await send("POST", list, token, body);
  else await send("PATCH", `${repository}/issues/comments/${earlier}`, token, body);
}

async function findComment(list: string, token: string, marker: string): Promise<number | undefined> {
  for (let page = 1; page <= MAX_PAGES; page++) {
    const answer = await send("GET", `${list}?per_page=${PAGE_SIZE}&page=${page}`, token);
    const comments = v.parse(v.array(Comment), answer);
    // A person may copy the marker; their words are not replaced.
    const found = comments.find(({ body, user }) => body?.startsWith(marker) && user?.type === "Bot");
    if (found !== undefined) return found.id;
    if (comments.length < PAGE_SIZE) return undefined;
  }
  return undefined;
}

async function send(method: string, url: string, token: string, body?: object): Promise<unknown> {
  const response = await fetch(url, {
    method,
    headers: {
      accept: "application/vnd.github+json",
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      "x-github-api-version": "2022-11-28",
    },
    body: body === undefined ? null : JSON.stringify(body),
    redirect: "error",
    signal: AbortSignal.timeout(TIMEOUT),
  });
  const text = await response.text();
  if (response.ok) return JSON.parse(text);
  const remedy = [401, 403, 404].includes(response.status)
    ? " Does the job have the permission pull-requests: write? A pull request from a fork does not get it."
    : "";
  throw new Error(`GitHub answered ${response.status}: ${text.slice(0, 300)}${remedy}`);
}

/**
 * What the comment says. All that the agent or its repository may have written is quoted as code, in which GitHub follows
 * no mention, link or image.
 */
export function formatComment(run: RunItem, response: string): string {
  const usage = usageText(run.request_usage);
  const facts = [`Run ${formatLink(run)}`, ...(usage === undefined ? [] : [usage])];
  const changes = listChanges(run).map(({ git }) => `${git.path}: ${describeChanges(git)}`);
  const about = [run.title, run.status_message?.message, ...changes].filter((line) => line !== undefined);
  const answer = quoteText(response);
  return [
    `### ${markOf(run)} Runyard: ${run.state}`,
    facts.join(" · "),
    quoteText(about.join("\n")),
    ...(answer === "" ? [] : [`<details><summary>Answer</summary>\n\n${answer}\n\n</details>`]),
  ].join("\n\n");
}
