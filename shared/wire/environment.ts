import * as v from "valibot";
import { NO_CREDENTIALS, Repository, StoredRepository } from "./config.ts";
import { PageInfo } from "./list.ts";
import { Id, Name, text, textOfBytes } from "./primitives.ts";
import { RunState, UserProfile } from "./run.ts";
import { SecretName } from "./secret-name.ts";

/** Names on GitHub have no `@`: what is before one is meant as the user of a URL. */
const NameOnGithub = v.pipe(
  v.string(),
  v.check((name) => !name.includes("@"), NO_CREDENTIALS),
);

/** A repository on GitHub. */
const GithubRepo = v.object({
  owner: v.pipe(NameOnGithub, v.regex(/^[A-Za-z0-9][A-Za-z0-9-]{0,38}$/, "must be a name on GitHub")),
  repo: v.pipe(NameOnGithub, v.regex(/^(?!\.{1,2}$)[\w.-]{1,100}$/, "must be the name of a repository")),
});

/** A member of a request: null says as little as its absence. */
const optional = <T>(schema: v.GenericSchema<unknown, T>) => v.exactOptional(v.nullable(schema));

/** What an environment is made of, as requests send it: `""` and `[]` clear what was set. */
const EnvironmentParts = {
  description: optional(text(4096)),
  docker_image: optional(textOfBytes(512)),
  github_repos: optional(v.pipe(v.array(GithubRepo), v.maxLength(10))),
  repositories: optional(v.pipe(v.array(Repository), v.maxLength(10))),
  setup_commands: optional(v.pipe(v.array(textOfBytes(8192, 1)), v.maxLength(20))),
  secrets: optional(v.pipe(v.array(v.object({ name: SecretName })), v.maxLength(50))),
};

/** The body of POST /agent/environments. `team`: whether the caller's team owns it; true for whoever has one. */
export const CreateEnvironmentRequest = v.object({
  name: Name,
  team: v.exactOptional(v.boolean()),
  ...EnvironmentParts,
});
export type CreateEnvironmentRequest = v.InferOutput<typeof CreateEnvironmentRequest>;

/** The body of PUT /agent/environments/{uid}: what is absent or null stays as it was. */
export const UpdateEnvironmentRequest = v.object({ name: optional(Name), ...EnvironmentParts });
export type UpdateEnvironmentRequest = v.InferOutput<typeof UpdateEnvironmentRequest>;

const HAS_ONE = "must have exactly one of user_uid and link";
/** With whom an environment is shared: one person, or whoever has the link. */
export const ShareRequest = v.pipe(
  v.object({ user_uid: v.exactOptional(Id), link: v.exactOptional(v.literal(true)) }),
  v.check(({ user_uid, link }) => (user_uid === undefined) !== (link === undefined), HAS_ONE),
);
export type ShareRequest = v.InferOutput<typeof ShareRequest>;

export const ShareResponse = v.object({ link: v.exactOptional(v.string()) });
export type ShareResponse = v.InferOutput<typeof ShareResponse>;

/** What an environment is made of. `github_repos` is the part of `repositories` that is on GitHub. */
export const EnvironmentConfig = v.object({
  name: v.string(),
  description: v.exactOptional(v.string()),
  docker_image: v.exactOptional(v.string()),
  github_repos: v.array(v.object({ owner: v.string(), repo: v.string() })),
  repositories: v.exactOptional(v.array(StoredRepository)),
  setup_commands: v.array(v.string()),
  secrets: v.exactOptional(v.array(v.object({ name: v.string() }))),
});

/** Who made or changed an environment; a caller who sees it by its link alone learns the uid and the display name. */
export const EnvironmentPerson = v.object({
  ...UserProfile.entries,
  type: v.exactOptional(UserProfile.entries.type),
});
export type EnvironmentPerson = v.InferOutput<typeof EnvironmentPerson>;

/** An environment as answers show it; without `last_task_*` for a caller who sees it by its link alone. */
export const EnvironmentItem = v.object({
  uid: v.string(),
  config: EnvironmentConfig,
  last_updated: v.string(),
  /** Whether the run that last got so far could not be set up in it; false again with the next that could. */
  setup_failed: v.boolean(),
  last_task_run_timestamp: v.exactOptional(v.nullable(v.string())),
  last_task_created: v.exactOptional(
    v.object({
      id: v.string(),
      title: v.string(),
      state: RunState,
      created_at: v.string(),
      updated_at: v.string(),
      started_at: v.exactOptional(v.string()),
    }),
  ),
  scope: v.object({ type: v.picklist(["Team", "User"]), uid: v.string() }),
  creator: EnvironmentPerson,
  last_editor: EnvironmentPerson,
});
export type EnvironmentItem = v.InferOutput<typeof EnvironmentItem>;

export const ListEnvironmentsResponse = v.object({
  environments: v.array(EnvironmentItem),
  page_info: v.exactOptional(PageInfo),
});
