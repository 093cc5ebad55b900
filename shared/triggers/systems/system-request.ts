import * as v from "valibot";

/** The systems that are asked with a secret of the team. */
export const SystemName = v.picklist(["github", "gitlab", "slack"]);
export type SystemName = v.InferOutput<typeof SystemName>;

/** Asks whether an account may start runs: on GitHub and GitLab whether it has write access. */
const CheckAccess = v.object({
  action: v.literal("check_access"),
  system: SystemName,
  team_uid: v.string(),
  /** The team's secret with the token of the system. */
  secret_id: v.string(),
  /** The repository as `owner/name`, the id of the project, or the id of the Slack team. */
  place: v.string(),
  /** The login on GitHub, elsewhere the id of the account. */
  account: v.string(),
});
export type CheckAccess = v.InferOutput<typeof CheckAccess>;

/** What a system is asked to do. */
export const SystemRequest = v.variant("action", [CheckAccess]);
export type SystemRequest = v.InferOutput<typeof SystemRequest>;

/** The message of the function that calls other systems. */
export const SystemMessage = v.object({ v: v.literal(1), request: SystemRequest });

/** What came of a request: what the system responded, or why there is no response that can be used, which time may change. */
export const SystemResult = v.union([
  v.object({ failure: v.pipe(v.string(), v.maxLength(300)) }),
  v.object({ has_access: v.boolean() }),
]);
export type SystemResult = v.InferOutput<typeof SystemResult>;

/** Calls other systems, in a function without rights on the table. */
export interface Systems {
  call(request: SystemRequest): Promise<SystemResult>;
}
