import * as v from "valibot";
import { ReplyButtons } from "./slack-blocks.ts";

/** The systems that are called with a secret of the team. */
export const SystemName = v.picklist(["github", "gitlab", "slack"]);
export type SystemName = v.InferOutput<typeof SystemName>;

const credential = {
  team_uid: v.string(),
  /** The team's secret with the token of the system. */
  secret_id: v.exactOptional(v.string()),
  /** The team's installation of the deployment's GitHub App, instead of a secret. */
  installation_id: v.exactOptional(v.number()),
  /** Since when tokens of the installation have to be issued, in milliseconds, since it had more rights before. */
  tokens_from: v.exactOptional(v.number()),
};

/** Where something is in a system. */
export const Place = v.object({
  system: SystemName,
  /** The repository as `owner/name`, the id of the project, or the id of the channel. */
  container: v.string(),
  /**
   * In the container: a number of an issue or pull request, `issues/3` or `merge_requests/3` on GitLab, or the time of a message on
   * Slack. A comment that gets a reaction is named by its path.
   */
  item: v.string(),
});
export type Place = v.InferOutput<typeof Place>;

/** Asks whether an account may start runs: on GitHub and GitLab whether it has write access. */
const CheckAccess = v.object({
  action: v.literal("check_access"),
  system: SystemName,
  ...credential,
  /** The repository as `owner/name`, the id of the project, or the id of the Slack team. */
  place: v.string(),
  /** The login on GitHub, elsewhere the id of the account. */
  account: v.string(),
});
export type CheckAccess = v.InferOutput<typeof CheckAccess>;

/** Adds a reaction to a comment or a message. */
const React = v.object({ action: v.literal("react"), ...credential, place: Place });

/** Creates or changes the one comment or message of a run in a thread. */
const PutReply = v.object({
  action: v.literal("put_reply"),
  ...credential,
  place: Place,
  text: v.string(),
  /** The buttons of a message; only on Slack. */
  buttons: v.exactOptional(ReplyButtons),
  /** What the comment is found by after a post whose response was lost. Nobody knows it before the post. */
  nonce: v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{16,64}$/)),
  /** The comment, once it exists. */
  post_id: v.exactOptional(v.string()),
  /** When the first post may have happened, if one was begun; comments before that time are not looked at. */
  posted_since: v.exactOptional(v.string()),
});
export type PutReply = v.InferOutput<typeof PutReply>;

/** Sets the status of the head commit of a pull request. */
const SetStatus = v.object({
  action: v.literal("set_status"),
  ...credential,
  repository: v.string(),
  /** The number of the pull request. */
  pull: v.string(),
  /** The commit that got the status before, which gets the new one too. */
  sha: v.exactOptional(v.string()),
  state: v.picklist(["pending", "success", "failure", "error"]),
  context: v.pipe(v.string(), v.maxLength(120)),
  description: v.pipe(v.string(), v.maxLength(140)),
  url: v.exactOptional(v.string()),
});
export type SetStatus = v.InferOutput<typeof SetStatus>;

/** Sets the check run of the head commit of a pull request, which only a GitHub App can. */
const SetCheck = v.object({
  action: v.literal("set_check"),
  ...credential,
  repository: v.string(),
  /** The number of the pull request. */
  pull: v.string(),
  /** The commit that had the check run before, which is changed too. */
  sha: v.exactOptional(v.string()),
  name: v.pipe(v.string(), v.maxLength(120)),
  /** What the check run is found by. */
  external_id: v.string(),
  status: v.picklist(["queued", "in_progress", "completed"]),
  conclusion: v.exactOptional(v.picklist(["success", "failure", "cancelled"])),
  title: v.pipe(v.string(), v.maxLength(140)),
  url: v.exactOptional(v.string()),
});
export type SetCheck = v.InferOutput<typeof SetCheck>;

/** Asks GitHub for the head of a pull request. */
const ReadPull = v.object({
  action: v.literal("read_pull"),
  ...credential,
  repository: v.string(),
  pull: v.string(),
});
export type ReadPull = v.InferOutput<typeof ReadPull>;

/** Asks Slack for the messages of a thread before one of them. */
const ReadThread = v.object({
  action: v.literal("read_thread"),
  ...credential,
  place: Place,
  /** The time of the message. */
  before: v.string(),
});
export type ReadThread = v.InferOutput<typeof ReadThread>;

/** Names of repositories that can be part of a URL, and of branches that can be part of a ref. */
export const RepositoryPath = v.pipe(
  v.string(),
  v.maxLength(512),
  v.regex(/^[\w.-]+(?:\/[\w.-]+)+$/),
  v.check((path) => !path.split("/").some((part) => /^\.*$/.test(part))),
);
export const BranchName = v.pipe(
  v.string(),
  v.maxLength(256),
  // As in `git check-ref-format`.
  v.regex(/^[^\p{Cc} ~^:?*[\\]+$/u),
  v.check((name) => !/^[-/]|\/$|\/\/|\.\.|@\{|\.$/.test(name) && !/(?:^|\/)\.|\.lock(?:\/|$)/.test(name)),
);
const CommitId = v.pipe(v.string(), v.regex(/^[0-9a-f]{40}$/));

/** Pushes commits to one branch, which exists. */
const PushBranch = v.object({
  action: v.literal("push_branch"),
  system: v.picklist(["github", "gitlab"]),
  ...credential,
  /** The path of the repository below the system's address. */
  repository: RepositoryPath,
  branch: BranchName,
  commit: CommitId,
  /** A time-limited URL of this service's storage, where the objects are. */
  pack_url: v.string(),
});
export type PushBranch = v.InferOutput<typeof PushBranch>;

/** What a system is asked to do. */
export const SystemRequest = v.variant("action", [
  CheckAccess,
  React,
  PutReply,
  SetStatus,
  SetCheck,
  ReadPull,
  ReadThread,
  PushBranch,
]);
export type SystemRequest = v.InferOutput<typeof SystemRequest>;

/** The message of the function that calls other systems. */
export const SystemMessage = v.object({ v: v.literal(1), request: SystemRequest });

/** The result of a request, or why it failed, in which case a later request may succeed. */
export const SystemResult = v.object({
  failure: v.exactOptional(v.pipe(v.string(), v.maxLength(300))),
  has_access: v.exactOptional(v.boolean()),
  /** The comment or message of a reply. */
  post_id: v.exactOptional(v.string()),
  /** The head of a pull request; absent where there is no such pull request. */
  head: v.exactOptional(v.object({ branch: v.string(), is_fork: v.boolean() })),
  /** The commit that has the status or the check run. */
  sha: v.exactOptional(v.string()),
  /** The messages of a thread, oldest first. */
  messages: v.exactOptional(v.array(v.object({ author: v.string(), text: v.string() }))),
  /** The commit that a branch has after a push. */
  pushed: v.exactOptional(v.string()),
});
export type SystemResult = v.InferOutput<typeof SystemResult>;

/** Calls other systems, in a function without rights on the table. */
export interface Systems {
  call(request: SystemRequest): Promise<SystemResult>;
}
