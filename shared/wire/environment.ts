import * as v from "valibot";
import { NO_CREDENTIALS, Repository, StoredRepository } from "./config.ts";
import { LimitDefaults, StoredLimits } from "./limits/run-limits.ts";
import { PageInfo } from "./list.ts";
import { Network } from "./network/network.ts";
import { StoredNetwork } from "./network/stored-network.ts";
import { Id, Name, text, textOfBytes } from "./primitives.ts";
import { RunState, UserProfile } from "./run.ts";
import { SecretName } from "./secrets/secret-name.ts";
import { Variables } from "./variables.ts";

/** Names on GitHub have no `@`; one indicates credentials, as in a URL. */
const NameOnGithub = v.pipe(
  v.string(),
  v.check((name) => !name.includes("@"), NO_CREDENTIALS),
);

/** A repository on GitHub. */
const GithubRepo = v.object({
  owner: v.pipe(
    NameOnGithub,
    v.regex(/^[A-Za-z0-9][A-Za-z0-9-]{0,38}$/, "must be the name of a GitHub user or organization"),
  ),
  repo: v.pipe(NameOnGithub, v.regex(/^(?!\.{1,2}$)[\w.-]{1,100}$/, "must be the name of a GitHub repository")),
});

/** A member of a request that may be absent or null, with the same meaning. */
const optional = <T>(schema: v.GenericSchema<unknown, T>) => v.exactOptional(v.nullable(schema));

// The grammar of references to images: https://pkg.go.dev/github.com/distribution/reference#pkg-overview
const DOMAIN_PART = "[A-Za-z0-9]+(?:-+[A-Za-z0-9]+)*";
const DOMAIN = `(?:${DOMAIN_PART}(?:\\.${DOMAIN_PART})*|\\[[A-Fa-f0-9:]+\\])(?::[0-9]+)?`;
const PATH_PART = "[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*";
const TAG = "[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}";
const DIGEST = "[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[A-Fa-f0-9]{32,}";

/** The reference of an image, or `""`, which clears it. */
const ImageReference = v.pipe(
  textOfBytes(512),
  v.regex(
    new RegExp(`^(?:(?:${DOMAIN}/)?${PATH_PART}(?:/${PATH_PART})*(?::${TAG})?(?:@${DIGEST})?)?$`),
    "must be the reference of an image, such as python:3.13 or ghcr.io/acme/build:1.2",
  ),
);

/** The content of an environment in requests: `""` and `[]` clear a value. */
const EnvironmentParts = {
  description: optional(text(4096)),
  docker_image: optional(ImageReference),
  github_repos: optional(v.pipe(v.array(GithubRepo), v.maxLength(10))),
  repositories: optional(v.pipe(v.array(Repository), v.maxLength(10))),
  setup_commands: optional(v.pipe(v.array(textOfBytes(8192, 1)), v.maxLength(20))),
  variables: optional(Variables),
  /** @default open */
  network: optional(Network),
  worker_host: optional(textOfBytes(512)),
  ...LimitDefaults,
  secrets: optional(v.pipe(v.array(v.object({ name: SecretName })), v.maxLength(50))),
};

/** A new environment. */
export const CreateEnvironmentRequest = v.object({
  name: Name,
  team: v.exactOptional(v.boolean()),
  ...EnvironmentParts,
});
export type CreateEnvironmentRequest = v.InferOutput<typeof CreateEnvironmentRequest>;

/** Changes to an environment. Members that are absent or null keep their values. */
export const UpdateEnvironmentRequest = v.object({ name: optional(Name), ...EnvironmentParts });
export type UpdateEnvironmentRequest = v.InferOutput<typeof UpdateEnvironmentRequest>;

const HAS_ONE = "must have exactly one of user_uid and link";
/** Whom to share an environment with: a person, or anyone with the link. Exactly one is required. */
export const ShareRequest = v.pipe(
  v.object({ user_uid: v.exactOptional(Id), link: v.exactOptional(v.literal(true)) }),
  v.check(({ user_uid, link }) => (user_uid === undefined) !== (link === undefined), HAS_ONE),
);
export type ShareRequest = v.InferOutput<typeof ShareRequest>;

/** The result of sharing an environment. */
export const ShareResponse = v.object({ link: v.exactOptional(v.string()) });
export type ShareResponse = v.InferOutput<typeof ShareResponse>;

/** The content of an environment. `github_repos` contains those of `repositories` that are on GitHub. */
export const EnvironmentConfig = v.object({
  name: v.string(),
  description: v.exactOptional(v.string()),
  docker_image: v.exactOptional(v.string()),
  github_repos: v.array(v.object({ owner: v.string(), repo: v.string() })),
  repositories: v.exactOptional(v.array(StoredRepository)),
  setup_commands: v.array(v.string()),
  variables: v.exactOptional(v.record(v.string(), v.string())),
  /** @default open */
  network: v.exactOptional(StoredNetwork),
  worker_host: v.exactOptional(v.string()),
  ...StoredLimits,
  secrets: v.exactOptional(v.array(v.object({ name: v.string() }))),
});

/**
 * The person or identity that created or changed an environment. With access by link, only `uid` and `display_name` are
 * present.
 */
export const EnvironmentPerson = v.object({
  ...UserProfile.entries,
  type: v.exactOptional(UserProfile.entries.type),
});
export type EnvironmentPerson = v.InferOutput<typeof EnvironmentPerson>;

/** An environment as responses show it. */
export const EnvironmentItem = v.object({
  uid: v.string(),
  config: EnvironmentConfig,
  last_updated: v.string(),
  /** Whether the latest setup of the environment failed. */
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

/** A page of environments. */
export const ListEnvironmentsResponse = v.object({
  environments: v.array(EnvironmentItem),
  page_info: v.exactOptional(PageInfo),
});
