import type { EventAuthor } from "#shared/wire/triggers/delivery.ts";
import { firstText, readMember, readText } from "./member.ts";
import type { Source, Standing } from "./source.ts";

/** Events that a client of the API describes freely, so that two of them can have equal bodies. */
const DISPATCHES = ["repository_dispatch", "workflow_dispatch"];
/** Events of CI, which code of a fork can cause. */
const CI = ["workflow_run", "workflow_job", "check_run", "check_suite", "status"];

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

  toAccount: ({ repository, author }) => ({
    place: /^[\w.-]+\/[\w.-]+$/.test(repository) ? repository : "",
    account: author.name,
  }),
};

const toKind = (type: string): EventAuthor["kind"] =>
  type === "User" ? "person" : type === "Bot" ? "bot" : "application";

/** Issues and pull requests of a repository share their numbers; discussions have their own. */
function readThread(payload: unknown): string {
  const discussion = readText(payload, "discussion", "number");
  return firstText(
    readText(payload, "issue", "number"),
    readText(payload, "pull_request", "number"),
    ...["workflow_run", "check_run", "check_suite"].map((name) =>
      readText(payload, name, "pull_requests", 0, "number"),
    ),
    discussion === "" ? "" : `discussion-${discussion}`,
  );
}

/** Whether an event of CI is about a branch of the repository itself. What does not show it counts as a fork's. */
function isOfOwnRepository(type: string, payload: unknown): boolean {
  const repository = readText(payload, "repository", "id");
  if (type === "workflow_run") return readText(payload, type, "head_repository", "id") === repository;
  if (type === "status") return isFilled(readMember(payload, "branches"));
  const suite = type === "check_run" ? readMember(payload, type, "check_suite") : readMember(payload, type);
  const pulls = readMember(payload, type, "pull_requests");
  return (
    type !== "workflow_job" &&
    readText(suite, "head_branch") !== "" &&
    Array.isArray(pulls) &&
    pulls.every((pull) => readText(pull, "head", "repo", "id") === readText(pull, "base", "repo", "id"))
  );
}

const isFilled = (list: unknown): boolean => Array.isArray(list) && list.length > 0;
