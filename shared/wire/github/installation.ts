import * as v from "valibot";
import { PageInfo } from "../list.ts";
import { Timestamp } from "../primitives.ts";
import { UserProfile } from "../run.ts";

/** The account on GitHub that a GitHub App is installed on. */
export const GithubAccount = v.object({
  /** The account's id. */
  id: v.pipe(v.number(), v.integer()),
  /** The account's name. */
  login: v.string(),
  /** The kind of the account. */
  type: v.picklist(["Organization", "User"]),
});
export type GithubAccount = v.InferOutput<typeof GithubAccount>;

/** The repositories of the account that the App may access: all of them, or those that its owner has selected. */
export const RepositorySelection = v.picklist(["all", "selected"]);

/** An installation of the deployment's GitHub App that the team has claimed. */
export const InstallationItem = v.object({
  /** GitHub's id of the installation. */
  installation_id: v.pipe(v.number(), v.integer()),
  /** The account that it is installed on. */
  account: GithubAccount,
  /** The repositories of the account that it gives access to. */
  repository_selection: RepositorySelection,
  /** The team that uses it. */
  scope: v.object({
    /** An installation belongs to a team. */
    type: v.literal("Team"),
    /** The team's id. */
    uid: v.string(),
  }),
  /** The person who claimed it. */
  claimed_by: UserProfile,
  /** The time of the claim. */
  claimed_at: Timestamp,
});
export type InstallationItem = v.InferOutput<typeof InstallationItem>;

/** A page of installations. */
export const ListInstallationsResponse = v.object({
  /** The installations of the team, in the order of their ids. */
  installations: v.array(InstallationItem),
  /** The position of the page in the list. */
  page_info: v.exactOptional(PageInfo),
});

/** A claim that was started. Both pages of GitHub redirect to the page of the web app that completes it, if there is one. */
export const InstallationClaim = v.object({
  /** GitHub's page that installs the App and authorizes it. */
  install_url: v.string(),
  /** GitHub's page that only authorizes the App, for an installation that exists. */
  authorize_url: v.string(),
  /** The time after which the claim cannot be completed. */
  expires_at: Timestamp,
});
export type InstallationClaim = v.InferOutput<typeof InstallationClaim>;

/** What GitHub adds to the URL that it redirects to, and the installation. */
export const ClaimInstallationRequest = v.object({
  /** GitHub's id of the installation. */
  installation_id: v.pipe(v.number(), v.integer(), v.minValue(1)),
  /** The `state` of the claim, which GitHub repeats. */
  state: v.pipe(v.string(), v.minLength(1), v.maxLength(128)),
  /** The `code` that identifies the person who authorized the App to GitHub. */
  code: v.pipe(v.string(), v.minLength(1), v.maxLength(256)),
});
export type ClaimInstallationRequest = v.InferOutput<typeof ClaimInstallationRequest>;
