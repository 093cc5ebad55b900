import { isMarked } from "../systems/marker.ts";
import { firstText, readMember, readText } from "./member.ts";
import type { PullRequest, Source, Standing } from "./source.ts";

/** Accounts of access tokens of projects and groups, and service accounts. */
const BOT = /^((project|group)_\d+_bot|service_account_)/;
const CI = ["pipeline", "build"];

/** https://docs.gitlab.com/user/project/integrations/webhook_events/ */
export const gitlab: Source = {
  runSource: "GITLAB_WEBHOOK",

  read(payload) {
    const repository = readText(payload, "project", "path_with_namespace");
    const thread = readThread(payload);
    const name = firstText(readText(payload, "user", "username"), readText(payload, "user_username"));
    return {
      type: firstText(readText(payload, "object_kind"), readText(payload, "event_name")),
      action: firstText(
        readText(payload, "object_attributes", "action"),
        readText(payload, "object_attributes", "status"),
        readText(payload, "build_status"),
      ),
      text: firstText(
        readText(payload, "object_attributes", "note"),
        readText(payload, "object_attributes", "description"),
        readText(payload, "commits", 0, "message"),
      ),
      author: {
        id: firstText(readText(payload, "user", "id"), readText(payload, "user_id")),
        name,
        kind: BOT.test(name) ? "bot" : "person",
      },
      repository,
      thread: thread === "" ? "" : `${repository}${thread}`,
    };
  },

  identify(_payload, header) {
    // X-Gitlab-Event-UUID is shared by events that caused each other.
    const id = header("idempotency-key");
    return { ...(id === undefined ? {} : { id }), isSigned: false };
  },

  judge({ type, author, payload }): Standing {
    if (CI.includes(type) && !isOfOwnProject(payload)) return "refused";
    return author.kind === "person" ? "unknown" : "bot";
  },

  toAccount: ({ author, payload }) => ({ place: readProject(payload), account: author.id }),

  toPlaces({ type, payload }) {
    const container = readProject(payload);
    const isPublic = ![0, 10].some((level) => readMember(payload, "project", "visibility_level") === level);
    const thread = readThread(payload);
    if (container === "" || thread === "") return { isPublic };
    const item = `${thread.startsWith("!") ? "merge_requests" : "issues"}/${thread.slice(1)}`;
    const note = type === "note" ? readText(payload, "object_attributes", "id") : "";
    const message = { container, item: note === "" ? item : `${item}/notes/${note}` };
    return { thread: { container, item }, message, isPublic };
  },

  toPull({ type, payload }) {
    const request = readMember(payload, type === "merge_request" ? "object_attributes" : "merge_request");
    const number = readText(request, "iid");
    if (number === "") return undefined;
    const source = readText(request, "source_project_id");
    const isFork = source === "" || source !== readText(request, "target_project_id");
    const isDraft = [readMember(request, "draft"), readMember(request, "work_in_progress")].includes(true);
    const status = STATES.get(readText(request, "state"));
    return {
      url: readText(request, "url"),
      number,
      changedAt: toSortable(readText(request, "updated_at")),
      ...(type !== "merge_request" || status === undefined
        ? {}
        : { status: status === "open" && isDraft ? "draft" : status }),
      head: { branch: readText(request, "source_branch"), isFork },
      isComment: type === "note",
    };
  },

  isOwn: ({ text }) => isMarked(text),
};

/** The states of merge requests, as statuses of pull requests. */
const STATES: ReadonlyMap<string, PullRequest["status"]> = new Map([
  ["opened", "open"],
  ["locked", "open"],
  ["merged", "merged"],
  ["closed", "closed"],
]);

/** A time of GitLab, such as `2026-05-18 19:00:00 UTC`, as one that sorts by time. */
const toSortable = (time: string): string => {
  const milliseconds = Date.parse(time);
  return Number.isNaN(milliseconds) ? "" : new Date(milliseconds).toISOString();
};

const readProject = (payload: unknown): string =>
  firstText(readText(payload, "project", "id"), readText(payload, "project_id"));

function readThread(payload: unknown): string {
  const kind = readText(payload, "object_kind");
  const own = readText(payload, "object_attributes", "iid");
  const mergeRequest = kind === "merge_request" ? own : readText(payload, "merge_request", "iid");
  if (mergeRequest !== "") return `!${mergeRequest}`;
  const issue = kind === "issue" || kind === "work_item" ? own : readText(payload, "issue", "iid");
  return issue === "" ? "" : `#${issue}`;
}

/** Whether a pipeline is of a branch of the project itself. */
function isOfOwnProject(payload: unknown): boolean {
  const request = readMember(payload, "merge_request");
  if (request === undefined || request === null) return true;
  const source = readText(request, "source_project_id");
  return source !== "" && source === readText(request, "target_project_id");
}
