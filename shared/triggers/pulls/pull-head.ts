import * as v from "valibot";
import { parseGithubUrl } from "#shared/environments/repositories.ts";
import type { BranchToPush, RunBody } from "#shared/records/run-body.ts";
import type { Repository } from "#shared/wire/config.ts";
import type { AnsweredEvent, TriggerEvent } from "../event.ts";
import { findSource } from "../sources/find-source.ts";
import { readText } from "../sources/member.ts";
import type { PullHead } from "../sources/source.ts";
import { nameCredential } from "../systems/credential.ts";
import { BranchName, RepositoryPath } from "../systems/system-request.ts";
import type { Trigger } from "../trigger-store.ts";

/**
 * Has a run work on the head of a pull request, and lets the service push its commits there with the credential for the event. Anybody
 * can write to a fork, so a run of one gets no secrets and no other proof of identity, and its key creates no children, which would have
 * them.
 */
export function withPullHead(
  body: RunBody,
  trigger: Trigger,
  event: AnsweredEvent,
  head: PullHead | undefined,
): RunBody {
  if (head === undefined) return body;
  const { number = "" } = findSource(trigger).toPull?.(event) ?? {};
  const ref = head.isFork ? toForkRef(trigger, number) : head.branch;
  const repositories = body.config.repositories?.map((repository) =>
    ref !== "" && isOfEvent(repository, trigger, event) ? { ...repository, ref } : repository,
  );
  const config = { ...body.config, ...(repositories === undefined ? {} : { repositories }) };
  if (!head.isFork) {
    const push = findBranchToPush(repositories ?? [], trigger, event, head.branch);
    return push === undefined
      ? { ...body, config }
      : { ...body, config, trigger: { trigger_id: trigger.uid, ...body.trigger, push } };
  }
  return withoutSecrets({ ...body, config, trigger: { trigger_id: trigger.uid, ...body.trigger, is_fork: true } });
}

/**
 * The branch that the run's commits are pushed to: the head of a pull request in a repository of the run. It is never the default branch,
 * even where that is the head of a pull request.
 */
export function findBranchToPush(
  repositories: readonly Repository[],
  trigger: Trigger,
  event: AnsweredEvent,
  branch: string,
): BranchToPush | undefined {
  const { kind: system } = trigger;
  const { repository, payload, installationId: installation_id } = event;
  const isOfPull = (findSource(trigger).toPull?.(event)?.number ?? "") !== "";
  if ((system !== "github" && system !== "gitlab") || !isOfPull) return undefined;
  if (nameCredential(trigger, event) === undefined) return undefined;
  const defaultBranch = readText(payload, system === "github" ? "repository" : "project", "default_branch");
  const own = repositories.find((one) => isOfEvent(one, trigger, event));
  if (own === undefined || branch === defaultBranch || !v.is(BranchName, branch) || !v.is(RepositoryPath, repository)) {
    return undefined;
  }
  const installation = installation_id === undefined ? {} : { installation_id };
  return { system, url: own.url, repository, branch, ...installation };
}

/** The ref by which the commits of a fork are in the repository itself. */
const toForkRef = (trigger: Trigger, number: string): string =>
  trigger.kind === "gitlab" ? `refs/merge-requests/${number}/head` : `refs/pull/${number}/head`;

/** Whether a repository of a configuration is the one that an event is about. */
export function isOfEvent(
  { url }: Pick<Repository, "url">,
  trigger: Trigger,
  { repository, payload }: TriggerEvent,
): boolean {
  if (trigger.kind === "github") {
    const found = parseGithubUrl(url);
    return found !== undefined && `${found.owner}/${found.repo}`.toLowerCase() === repository.toLowerCase();
  }
  const own = readText(payload, "project", "web_url");
  return own !== "" && toPage(url) === toPage(own);
}

/** The address of a repository's page, as far as that of its clone tells. */
const toPage = (url: string): string =>
  url
    .replace(/\/$/, "")
    .replace(/\.git$/, "")
    .toLowerCase();

function withoutSecrets(body: RunBody): RunBody {
  const { secrets: _secrets, providers: _providers, ...rest } = body;
  const { secrets: _names, mcp_servers: _servers, repositories, ...config } = body.config;
  const open = repositories?.map(({ token_secret: _token, ...repository }) => repository);
  return { ...rest, config: { ...config, ...(open === undefined ? {} : { repositories: open }) } };
}
