import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import * as v from "valibot";
import { describeChanges, listChanges } from "../cli/src/changes/changes.ts";
import { formatRunLink, quoteText } from "../cli/src/changes/pull-request-text.ts";
import { type GithubRequest, requestGithub } from "../cli/src/github-api.ts";
import { usageText } from "../cli/src/usage.ts";
import type { RunItem } from "../clients/typescript/src/index.ts";
import type { Job } from "./job.ts";
import { markOf } from "./summary.ts";

/** Comments of one page, which is the most that GitHub sends. */
const PAGE_SIZE = 100;
const MAX_PAGES = 30;
const TIMEOUT_MS = 10_000;

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

/** Writes a comment on the pull request, or replaces the one that an earlier run of the same step has written. */
export async function writeComment(job: Job, { token, key, number }: PullRequest, text: string): Promise<void> {
  const digest = createHash("sha256").update(`${key}\n${job.env["GITHUB_ACTION"]}`).digest("hex").slice(0, 20);
  const marker = `<!-- runyard ${digest} -->`;
  const repository = `${job.env["GITHUB_API_URL"]}/repos/${job.env["GITHUB_REPOSITORY"]}`;
  const list = `${repository}/issues/${number}/comments`;
  const earlier = await findComment(list, token, marker);
  const body = { body: `${marker}\n${text}` };
  if (earlier === undefined) await send({ method: "POST", url: list, token, body });
  else await send({ method: "PATCH", url: `${repository}/issues/comments/${earlier}`, token, body });
}

const send = (request: Omit<GithubRequest, "remedy">): Promise<unknown> =>
  requestGithub({
    ...request,
    timeoutMs: TIMEOUT_MS,
    remedy: "Does the job have the permission pull-requests: write? A pull request from a fork does not get it.",
  });

async function findComment(list: string, token: string, marker: string): Promise<number | undefined> {
  for (let page = 1; page <= MAX_PAGES; page++) {
    const response = await send({ url: `${list}?per_page=${PAGE_SIZE}&page=${page}`, token });
    const comments = v.parse(v.array(Comment), response);
    // A person may copy the marker; only a comment of a bot is replaced.
    const found = comments.find(({ body, user }) => body?.startsWith(marker) && user?.type === "Bot");
    if (found !== undefined) return found.id;
    if (comments.length < PAGE_SIZE) return undefined;
  }
  return undefined;
}

/**
 * Formats the comment. All that the agent or its repository may have written is quoted as code, in which GitHub follows
 * no mention, link or image.
 */
export function formatComment(run: RunItem, response: string): string {
  const usage = usageText(run.request_usage);
  const facts = [`Run ${formatRunLink(run)}`, ...(usage === undefined ? [] : [usage])];
  const changes = listChanges(run).map(({ git }) => `${git.path}: ${describeChanges(git)}`);
  const about = [run.title, run.status_message?.message, ...changes].filter((line) => line !== undefined);
  const quote = quoteText(response);
  return [
    `### ${markOf(run)} Runyard: ${run.state}`,
    facts.join(" · "),
    quoteText(about.join("\n")),
    ...(quote === "" ? [] : [`<details><summary>Answer</summary>\n\n${quote}\n\n</details>`]),
  ].join("\n\n");
}
