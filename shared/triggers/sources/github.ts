import type { EventAuthor } from "#shared/wire/triggers/delivery.ts";
import { isMarked, STATUS_PREFIX } from "../systems/marker.ts";
import { firstText, readMember, readText } from "./member.ts";
import type { PullRequest, Source, Standing } from "./source.ts";

/** Events that a client of the API describes freely, so that two of them can have equal bodies. */
const DISPATCHES = ["repository_dispatch", "workflow_dispatch"];
/** Events of CI, which code of a fork can cause. */
const CI = ["workflow_run", "workflow_job", "check_run", "check_suite", "status"];

/** Events of comments and reviews of pull requests. */
const COMMENTS = ["issue_comment", "pull_request_review", "pull_request_review_comment"];

/** https://docs.github.com/en/webhooks/webhook-events-and-payloads */
export const github: Source = {
  runSource: "GITHUB_WEBHOOK",

  read(payload, header) {
    const repository = readText(payload, "repository", "full_name");
    const thread = readThread(payload);
    return {
      type: header("x-github-event") ?? "",
      action: readText(payload, "action"),
      text: firstText(
        ...["comment", "review", "issue", "pull_request", "discussion", "release"].map((name) =>
          readText(payload, name, "body"),
        ),
        readText(payload, "head_commit", "message"),
      ),
      author: {
        id: readText(payload, "sender", "id"),
        name: readText(payload, "sender", "login"),
        kind: toKind(readText(payload, "sender", "type")),
      },
      repository,
      thread: thread === "" ? "" : `${repository}#${thread}`,
    };
  },

  identify(_payload, header) {
    const id = header("x-github-delivery");
    const hasEqualBodies = DISPATCHES.includes(header("x-github-event") ?? "");
    return { ...(id === undefined ? {} : { id }), isSigned: false, hasEqualBodies };
  },

  judge({ type, author, payload }): Standing {
    if (CI.includes(type) && !isOfOwnRepository(type, payload)) return "refused";
    return author.kind === "person" ? "unknown" : "bot";
  },

  toAccount: ({ repository, author }) => ({ place: toContainer(repository), account: author.name }),

  toPlaces({ type, repository, payload }) {
    const container = toContainer(repository);
    const isPublic = readMember(payload, "repository", "private") !== true;
    if (container === "") return { isPublic };
    const item = readIssue(payload);
    const message = readMessage(type, item, payload);
    const isOfPull = [["pull_request"], ["issue", "pull_request"]].some((path) =>
      isObject(readMember(payload, ...path)),
    );
    const isPull = isOfPull || readPullOfCi(payload) !== "";
    return {
      ...(item === "" ? {} : { thread: { container, item } }),
      ...(message === "" ? {} : { message: { container, item: message } }),
      isPull: isPull && item !== "",
      isPublic,
    };
  },

  toPull({ type, payload }) {
    const pull = readMember(payload, "pull_request");
    const number = readIssue(payload);
    // A branch of the repository itself, or the event would be refused.
    const branch = CI.includes(type) ? readHeadBranch(type, payload) : "";
    if (branch !== "") return { url: "", number, changedAt: "", head: { branch, isFork: false } };
    const isComment = COMMENTS.includes(type);
    if (isObject(pull)) return { ...readPull(type, pull), number, isComment };
    const url = readText(payload, "issue", "pull_request", "html_url");
    if (!isObject(readMember(payload, "issue", "pull_request"))) return undefined;
    return { url, number, changedAt: "", isComment };
  },

  isOwn: ({ type, text, payload }) =>
    isMarked(text) ||
    (type === "status" && readText(payload, "context").startsWith(STATUS_PREFIX)) ||
    (type === "check_run" && readText(payload, "check_run", "name").startsWith(STATUS_PREFIX)),
};

const toKind = (type: string): EventAuthor["kind"] =>
  type === "User" ? "person" : type === "Bot" ? "bot" : "application";

function readPull(type: string, pull: unknown): Omit<PullRequest, "number"> {
  const [head, base] = [readText(pull, "head", "repo", "id"), readText(pull, "base", "repo", "id")];
  const isMerged = readMember(pull, "merged") === true || readText(pull, "merged_at") !== "";
  const isClosed = readText(pull, "state") === "closed";
  const isDraft = readMember(pull, "draft") === true;
  const status = isMerged ? "merged" : isClosed ? "closed" : isDraft ? "draft" : "open";
  return {
    url: readText(pull, "html_url"),
    changedAt: readText(pull, "updated_at"),
    // The pull request in other events may be older than the last one of this type.
    ...(type === "pull_request" ? { status } : {}),
    head: { branch: readText(pull, "head", "ref"), isFork: head === "" || head !== base },
  };
}

/** A name that can be a part of a path of the API. */
const toContainer = (repository: string): string => (/^[\w.-]+\/[\w.-]+$/.test(repository) ? repository : "");
const isObject = (value: unknown): boolean => typeof value === "object" && value !== null;

/** Issues and pull requests of a repository share their numbers; discussions have their own. */
function readThread(payload: unknown): string {
  const discussion = readText(payload, "discussion", "number");
  return firstText(readIssue(payload), discussion === "" ? "" : `discussion-${discussion}`);
}

const readIssue = (payload: unknown): string =>
  firstText(readText(payload, "issue", "number"), readText(payload, "pull_request", "number"), readPullOfCi(payload));

/** The number of the pull request that an event of CI is about. */
export const readPullOfCi = (payload: unknown): string =>
  firstText(
    ...["workflow_run", "check_run", "check_suite"].map((name) =>
      readText(payload, name, "pull_requests", 0, "number"),
    ),
  );

/** The path of what an event is about, below its repository: https://docs.github.com/en/rest/reactions/reactions */
function readMessage(type: string, issue: string, payload: unknown): string {
  const comment = readText(payload, "comment", "id");
  if (type === "issue_comment") return comment === "" ? "" : `issues/comments/${comment}`;
  if (type === "pull_request_review_comment") return comment === "" ? "" : `pulls/comments/${comment}`;
  return ["issues", "pull_request"].includes(type) && issue !== "" ? `issues/${issue}` : "";
}

/** Whether an event of CI is about a branch of the repository itself. What does not show it counts as a fork's. */
function isOfOwnRepository(type: string, payload: unknown): boolean {
  const repository = readText(payload, "repository", "id");
  if (type === "workflow_run") return readText(payload, type, "head_repository", "id") === repository;
  if (type === "status") return isFilled(readMember(payload, "branches"));
  const pulls = readMember(payload, type, "pull_requests");
  return (
    type !== "workflow_job" &&
    readHeadBranch(type, payload) !== "" &&
    Array.isArray(pulls) &&
    pulls.every((pull) => readText(pull, "head", "repo", "id") === readText(pull, "base", "repo", "id"))
  );
}

/** The branch of an event of CI; a check run has that of its suite. */
const readHeadBranch = (type: string, payload: unknown): string =>
  readText(payload, type, ...(type === "check_run" ? ["check_suite"] : []), "head_branch");

const isFilled = (list: unknown): boolean => Array.isArray(list) && list.length > 0;
