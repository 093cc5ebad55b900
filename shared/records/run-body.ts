import * as v from "valibot";
import { batchGetAll } from "#shared/table/batch-get.ts";
import { keys } from "#shared/table/keys.ts";
import type { Table } from "#shared/table/table.ts";
import { ResolvedAgentConfig } from "#shared/wire/config.ts";
import { Providers } from "#shared/wire/executions/providers.ts";
import { Metadata } from "#shared/wire/metadata.ts";
import { StoredNetwork } from "#shared/wire/network/stored-network.ts";
import { ExecutionLocation, RunMode, RunSchedule, RunSourceType, UserProfile } from "#shared/wire/run.ts";
import { RequestOrigin } from "./request-origin.ts";

export const StoredAttachment = v.object({
  attachment_id: v.string(),
  file_name: v.string(),
  mime_type: v.string(),
  file: v.string(),
  size_bytes: v.number(),
});
export type StoredAttachment = v.InferOutput<typeof StoredAttachment>;

/** A secret that the run's environment or identity names, and why the run may not use it, where it may not. */
const RunSecret = v.object({ name: v.string(), refused: v.exactOptional(v.string()) });
export type RunSecret = v.InferOutput<typeof RunSecret>;

/** The branch that the service pushes commits of the run to. */
const BranchToPush = v.object({
  system: v.picklist(["github", "gitlab"]),
  /** The URL in the run's configuration. */
  url: v.string(),
  /** The path of the repository in its system, such as `owner/name`. */
  repository: v.string(),
  branch: v.string(),
  /** The installation of the GitHub App that pushes; absent where the trigger's credential does. */
  installation_id: v.exactOptional(v.number()),
});
export type BranchToPush = v.InferOutput<typeof BranchToPush>;

/** The branch of the pull request that the run has opened. After a comment on the pull request, the run continues on this branch. */
const OwnBranch = v.object({
  ...BranchToPush.entries,
  /** The trigger that got the comment, whose credential pushes. */
  trigger_id: v.string(),
});
export type OwnBranch = v.InferOutput<typeof OwnBranch>;

/** The trigger whose event started the run, and the URL of the thread that the event belongs to. */
const RunTrigger = v.object({
  trigger_id: v.string(),
  url: v.exactOptional(v.string()),
  /** True if the run works on the pull request of a fork, whose code may do nothing in the team's name. */
  is_fork: v.exactOptional(v.literal(true)),
  push: v.exactOptional(BranchToPush),
});

/** The skill that an execution has reported to have found. */
const LoadedSkill = v.object({ name: v.string(), full_path: v.string() });
export type LoadedSkill = v.InferOutput<typeof LoadedSkill>;

/** The part of a run that is written once, except for the skill that an execution finds and the branch of its pull request. Prompts over 32 KB are files; `prompt` is then their beginning. */
export const RunBody = v.object({
  title: v.string(),
  prompt: v.string(),
  prompt_file: v.exactOptional(v.string()),
  config: ResolvedAgentConfig,
  /** The setup commands of its environment when the run was created. */
  setup_commands: v.exactOptional(v.array(v.string())),
  /** The image of its environment when the run was created. */
  docker_image: v.exactOptional(v.string()),
  /** The plain variables of its environment when the run was created. */
  variables: v.exactOptional(v.record(v.string(), v.string())),
  /** The cloud providers that its commands sign in to, as its environment said when the run was created. */
  providers: v.exactOptional(Providers),
  /** What commands may call, as its environment said when the run was created. @default everything */
  network: v.exactOptional(StoredNetwork),
  secrets: v.exactOptional(v.array(RunSecret)),
  /** True if the run only sets up its environment, by a prompt of the service. */
  sets_up: v.exactOptional(v.literal(true)),
  creator: UserProfile,
  executor: UserProfile,
  source: RunSourceType,
  execution_location: ExecutionLocation,
  schedule: v.exactOptional(RunSchedule),
  trigger: v.exactOptional(RunTrigger),
  own_branch: v.exactOptional(OwnBranch),
  conversation_id: v.string(),
  parent_run_id: v.exactOptional(v.string()),
  /** From the root down to the parent. */
  ancestors: v.array(v.string()),
  mode: RunMode,
  interactive: v.boolean(),
  metadata: v.exactOptional(Metadata),
  attachments: v.array(StoredAttachment),
  agent_skill: v.exactOptional(LoadedSkill),
  /** How it was created; absent where a schedule or a trigger did, or an earlier release. */
  origin: v.exactOptional(RequestOrigin),
  /** What gets the events that end the run. Never shown, since it may contain a token. */
  notify_url: v.exactOptional(v.string()),
  /** The position of its caller in a trace, as the header of that name; of a child, that of its parent. */
  traceparent: v.exactOptional(v.string()),
  /** What everybody with the link may do, where that was set after the run's creation; else its configuration says it. */
  public_access: v.exactOptional(v.literal("VIEWER")),
});
export type RunBody = v.InferOutput<typeof RunBody>;

/** The branch that the service pushes the run's commits to, by the credential of a trigger; undefined where there is none. */
export const findPush = ({ trigger, own_branch }: RunBody): OwnBranch | undefined =>
  own_branch ?? (trigger?.push === undefined ? undefined : { ...trigger.push, trigger_id: trigger.trigger_id });

/** What everybody with the link of a run may do; undefined: nothing. */
export const findPublicAccess = ({ config, public_access }: RunBody): "VIEWER" | "EDITOR" | undefined =>
  public_access ?? config.session_sharing?.public_access;

export const parseRunBody = (item: unknown): RunBody => v.parse(RunBody, item);

/** Reads the bodies of any number of runs, in their order; undefined if a run does not exist. */
export async function readBodies(
  runIds: readonly string[],
  table: Pick<Table, "batchGet">,
): Promise<(RunBody | undefined)[]> {
  const items = await batchGetAll(runIds.map(keys.body), table);
  return items.map((item) => (item === undefined ? undefined : parseRunBody(item)));
}

/** The most bytes of a prompt that are stored in the table. */
export const INLINE_BYTES = 32 * 1024;
