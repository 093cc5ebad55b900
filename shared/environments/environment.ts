import * as v from "valibot";
import { isSameOwner } from "#shared/records/owner.ts";
import type { RunHead } from "#shared/records/run-head.ts";
import type { Owner } from "#shared/table/keys.ts";
import type { Item, Value } from "#shared/table/table.ts";
import { StoredRepository } from "#shared/wire/config.ts";
import type { EnvironmentItem, EnvironmentPerson } from "#shared/wire/environment.ts";
import { Providers } from "#shared/wire/executions/providers.ts";
import { pickLimits, StoredLimits } from "#shared/wire/limits/run-limits.ts";
import { StoredNetwork } from "#shared/wire/network/stored-network.ts";
import { toTimestamp } from "#shared/wire/primitives.ts";
import { maskRepositories } from "#shared/wire/repository-url.ts";
import { UserProfile } from "#shared/wire/run.ts";
import { githubPart } from "./repositories.ts";

/** An environment as it is stored; a member that is not set is absent. Each guest is an attribute of its own. */
const Environment = v.object({
  uid: v.string(),
  owner: v.object({ type: v.picklist(["Team", "User"]), uid: v.string() }),
  name: v.string(),
  created_at: v.number(),
  updated_at: v.number(),
  creator: UserProfile,
  last_editor: UserProfile,
  description: v.exactOptional(v.string()),
  docker_image: v.exactOptional(v.string()),
  repositories: v.exactOptional(v.array(StoredRepository)),
  setup_commands: v.exactOptional(v.array(v.string())),
  variables: v.exactOptional(v.record(v.string(), v.string())),
  providers: v.exactOptional(Providers),
  /** @default open */
  network: v.exactOptional(StoredNetwork),
  worker_host: v.exactOptional(v.string()),
  ...StoredLimits,
  secrets: v.exactOptional(v.array(v.string())),
  /** SHA-256 of the token in its link. */
  link_hash: v.exactOptional(v.string()),
});
export type Environment = v.InferOutput<typeof Environment> & { readonly guests: ReadonlySet<string> };

const GUEST = "guest:";
export const guestAttribute = (user: string): string => `${GUEST}${user}`;

export const parseEnvironment = (item: Readonly<Record<string, Value>>): Environment => ({
  ...v.parse(Environment, item),
  guests: new Set(
    Object.keys(item)
      .filter((name) => name.startsWith(GUEST))
      .map((name) => name.slice(GUEST.length)),
  ),
});

/**
 * The latest run in an environment, and whether the run that ended last could be set up. It is an item of its own, so that an update
 * does not write the whole environment.
 */
const LastRun = v.object({
  run_id: v.string(),
  title: v.string(),
  created_at: v.number(),
  setup_failed: v.exactOptional(v.boolean()),
  /** When that run ended. */
  setup_at: v.exactOptional(v.number()),
});
export type LastRun = v.InferOutput<typeof LastRun>;

/** Undefined until there is a run, although the item exists from the beginning. */
export const parseLastRun = (item: Item | undefined): LastRun | undefined => {
  const parsed = v.safeParse(LastRun, item);
  return parsed.success ? parsed.output : undefined;
};

export const isOwnedBy = ({ owner }: Pick<Environment, "owner">, other: Owner): boolean => isSameOwner(owner, other);

/** Formats an environment for responses, with the present state of its latest run. */
export function toEnvironmentItem(
  environment: Environment,
  last: LastRun | undefined,
  head: RunHead | undefined,
): EnvironmentItem {
  const { uid, owner, name, description, docker_image, repositories = [], setup_commands, secrets } = environment;
  const { worker_host, variables, providers, network } = environment;
  return {
    uid,
    config: {
      name,
      ...(description === undefined ? {} : { description }),
      ...(docker_image === undefined ? {} : { docker_image }),
      github_repos: githubPart(repositories),
      ...(repositories.length === 0 ? {} : { repositories: maskRepositories(repositories) }),
      setup_commands: setup_commands ?? [],
      ...(variables === undefined ? {} : { variables }),
      ...(providers === undefined ? {} : { providers }),
      ...(network === undefined ? {} : { network }),
      ...(worker_host === undefined ? {} : { worker_host }),
      ...pickLimits(environment),
      ...(secrets === undefined ? {} : { secrets: secrets.map((secret) => ({ name: secret })) }),
    },
    last_updated: toTimestamp(environment.updated_at),
    setup_failed: hasSetupFailed(last, head === undefined ? undefined : getSetupOutcome(head)),
    last_task_run_timestamp: last === undefined ? null : toTimestamp(last.created_at),
    ...(last === undefined || head === undefined ? {} : { last_task_created: toTask(last, head) }),
    scope: owner,
    creator: environment.creator,
    last_editor: environment.last_editor,
  };
}

/** Removes what a caller who only has the environment's link may not see. */
export function toLinkedItem(item: EnvironmentItem): EnvironmentItem {
  const {
    last_task_created: _,
    last_task_run_timestamp: __,
    setup_snapshot: ___,
    creator,
    last_editor,
    ...rest
  } = item;
  return { ...rest, creator: nameOnly(creator), last_editor: nameOnly(last_editor) };
}

const nameOnly = ({ uid, display_name }: EnvironmentPerson): EnvironmentPerson => ({
  uid,
  ...(display_name === undefined ? {} : { display_name }),
});

const toTask = ({ title }: LastRun, head: RunHead): NonNullable<EnvironmentItem["last_task_created"]> => ({
  id: head.run_id,
  title,
  state: head.state,
  created_at: toTimestamp(head.created_at),
  updated_at: toTimestamp(head.updated_at),
  ...(head.started_at === undefined ? {} : { started_at: toTimestamp(head.started_at) }),
});

export interface SetupOutcome {
  readonly failed: boolean;
  readonly at: number;
}

/** The outcome of an ended run's setup; undefined if the run was cancelled, ended in an error of the service or never started. */
export function getSetupOutcome(head: RunHead): SetupOutcome | undefined {
  if (!("ended_at" in head) || head.started_at === undefined) return undefined;
  if (head.state === "CANCELLED" || head.state === "ERROR") return undefined;
  return { failed: head.status_message?.error_code === "environment_setup_failed", at: head.ended_at };
}

/** The head of the latest run has the outcome at once; it is recorded with the environment a moment later. */
function hasSetupFailed(last: LastRun | undefined, latest: SetupOutcome | undefined): boolean {
  if (latest === undefined || latest.at < (last?.setup_at ?? 0)) return last?.setup_failed ?? false;
  return latest.failed;
}
