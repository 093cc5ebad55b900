import * as v from "valibot";
import { NO_CREDENTIALS, Repository, StoredRepository } from "./config.ts";
import { Providers } from "./executions/providers.ts";
import { LimitDefaults, StoredLimits } from "./limits/run-limits.ts";
import { PageInfo } from "./list.ts";
import { Network } from "./network/network.ts";
import { StoredNetwork } from "./network/stored-network.ts";
import { Count, Id, Name, optional, text, textOfBytes } from "./primitives.ts";
import { RunState, UserProfile } from "./run.ts";
import { SecretReferences } from "./secrets/secret-name.ts";
import { Variables } from "./variables.ts";

/** Names on GitHub have no `@`; one indicates credentials, as in a URL. */
const NameOnGithub = v.pipe(
  v.string(),
  v.check((name) => !name.includes("@"), NO_CREDENTIALS),
);

/** A repository on GitHub. */
const GithubRepo = v.object({
  /** The user or organization on GitHub. */
  owner: v.pipe(
    NameOnGithub,
    v.regex(/^[A-Za-z0-9][A-Za-z0-9-]{0,38}$/, "must be the name of a GitHub user or organization"),
  ),
  /** The repository's name. */
  repo: v.pipe(NameOnGithub, v.regex(/^(?!\.{1,2}$)[\w.-]{1,100}$/, "must be the name of a GitHub repository")),
});

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
  /** A description for people. */
  description: optional(text(4096)),
  /** The container image in which the runs' commands execute. If the deployment does not support images, creating a run returns 422. */
  docker_image: optional(ImageReference),
  /** The GitHub repositories to clone, at most 10. */
  github_repos: optional(v.pipe(v.array(GithubRepo), v.maxLength(10))),
  /** The Git repositories to clone before the agent starts, at most 10. */
  repositories: optional(v.pipe(v.array(Repository), v.maxLength(10))),
  /** The commands to run before the agent starts, in order, at most 20. */
  setup_commands: optional(v.pipe(v.array(textOfBytes(8192, 1)), v.maxLength(20))),
  /**
   * The plain environment variables of setup commands and commands, at most 100. Everyone who can read the
   * environment can read them.
   */
  variables: optional(Variables),
  /** Cloud providers that commands sign in to with the identity of their run, without a secret. `{}` removes them. */
  providers: optional(Providers),
  /** What commands, clones and MCP servers may call. Everything by default. */
  network: optional(Network),
  /** The self-hosted worker of runs that set none. */
  worker_host: optional(textOfBytes(512)),
  ...LimitDefaults,
  /** The secrets available to runs, at most 50. */
  secrets: optional(SecretReferences),
};

/** A new environment. */
export const CreateEnvironmentRequest = v.object({
  /** The environment's name, unique within the team or the person. */
  name: Name,
  /** Whether the team owns the environment. Defaults to true if the caller has a team; agent keys cannot set it to false. */
  team: v.exactOptional(v.boolean()),
  ...EnvironmentParts,
});
export type CreateEnvironmentRequest = v.InferOutput<typeof CreateEnvironmentRequest>;

/** Changes to an environment. Members that are absent or null keep their values. */
export const UpdateEnvironmentRequest = v.object({
  /** The environment's name, unique within the team or the person. */
  name: optional(Name),
  ...EnvironmentParts,
});
export type UpdateEnvironmentRequest = v.InferOutput<typeof UpdateEnvironmentRequest>;

const HAS_ONE = "must have exactly one of user_uid and link";
/** Whom to share an environment with: a person, or anyone with the link. Exactly one is required. */
export const ShareRequest = v.pipe(
  v.object({
    /** The id of the person to share with. Excludes `link`. */
    user_uid: v.exactOptional(Id),
    /** Always true: share by link. Excludes `user_uid`. */
    link: v.exactOptional(v.literal(true)),
  }),
  v.check(({ user_uid, link }) => (user_uid === undefined) !== (link === undefined), HAS_ONE),
);
export type ShareRequest = v.InferOutput<typeof ShareRequest>;

/** The result of sharing an environment. */
export const ShareResponse = v.object({
  /** The URL that shows the environment, returned once. Absent when sharing with a person. */
  link: v.exactOptional(v.string()),
});
export type ShareResponse = v.InferOutput<typeof ShareResponse>;

/** The content of an environment. `github_repos` contains those of `repositories` that are on GitHub. */
export const EnvironmentConfig = v.object({
  /** The environment's name, unique within the team or the person. */
  name: v.string(),
  /** A description for people. */
  description: v.exactOptional(v.string()),
  /** The container image in which the runs' commands execute. If the deployment does not support images, creating a run returns 422. */
  docker_image: v.exactOptional(v.string()),
  /** The GitHub repositories to clone, at most 10. */
  github_repos: v.array(
    v.object({
      /** The user or organization on GitHub. */
      owner: v.string(),
      /** The repository's name. */
      repo: v.string(),
    }),
  ),
  /** The Git repositories to clone before the agent starts, at most 10. */
  repositories: v.exactOptional(v.array(StoredRepository)),
  /** The commands to run before the agent starts, in order, at most 20. */
  setup_commands: v.array(v.string()),
  /**
   * The plain environment variables of setup commands and commands, at most 100. Everyone who can read the
   * environment can read them.
   */
  variables: v.exactOptional(v.record(v.string(), v.string())),
  /** Cloud providers that commands sign in to with the identity of their run. */
  providers: v.exactOptional(Providers),
  /** What commands, clones and MCP servers may call. Everything by default. */
  network: v.exactOptional(StoredNetwork),
  /** The self-hosted worker of runs that set none. */
  worker_host: v.exactOptional(v.string()),
  ...StoredLimits,
  /** The secrets available to runs, at most 50. */
  secrets: v.exactOptional(
    v.array(
      v.object({
        /** The secret's name. */
        name: v.string(),
      }),
    ),
  ),
});

/**
 * The person or identity that created or changed an environment. With access by link, only `uid` and `display_name` are
 * present.
 */
export const EnvironmentPerson = v.object({
  ...UserProfile.entries,
  /** `user` for a person, `service_account` for an identity. Absent if a link grants the access. */
  type: v.exactOptional(UserProfile.entries.type),
});
export type EnvironmentPerson = v.InferOutput<typeof EnvironmentPerson>;

/** An environment as responses show it. */
export const EnvironmentItem = v.object({
  /** The environment's id. */
  uid: v.string(),
  /** The content of the environment. */
  config: EnvironmentConfig,
  /** The time of the latest change. @format date-time */
  last_updated: v.string(),
  /** Whether the latest setup of the environment failed. */
  setup_failed: v.boolean(),
  /** The start time of the latest run. Null before the first; absent if a link grants the access. @format date-time */
  last_task_run_timestamp: v.exactOptional(v.nullable(v.string())),
  /** The latest run. Absent before the first, and if a link grants the access. */
  last_task_created: v.exactOptional(
    v.object({
      /** The run's id. */
      id: v.string(),
      /** The run's title. */
      title: v.string(),
      /** The run's current state. */
      state: RunState,
      /** The time of creation. @format date-time */
      created_at: v.string(),
      /** The time of the run's latest change. @format date-time */
      updated_at: v.string(),
      /** The start time. Absent before the run has started. @format date-time */
      started_at: v.exactOptional(v.string()),
    }),
  ),
  /**
   * What later runs start with instead of cloning and running the setup commands. Absent if there is none, and if a link grants
   * the access.
   */
  setup_snapshot: v.exactOptional(
    v.object({
      /** The run that made it. */
      run_id: v.string(),
      /** The time of creation. @format date-time */
      created_at: v.string(),
      /** The time after which no run uses it. @format date-time */
      expires_at: v.string(),
      /** The size in bytes. */
      size_bytes: Count,
    }),
  ),
  /** The owner. */
  scope: v.object({
    /** `Team` for a team's resource, `User` for a personal one. */
    type: v.picklist(["Team", "User"]),
    /** The id of the team or the person. */
    uid: v.string(),
  }),
  /** The person or identity that created the environment. */
  creator: EnvironmentPerson,
  /** The person or identity that changed the environment last. */
  last_editor: EnvironmentPerson,
});
export type EnvironmentItem = v.InferOutput<typeof EnvironmentItem>;

/** A page of environments. */
export const ListEnvironmentsResponse = v.object({
  /** The environments visible to the caller. */
  environments: v.array(EnvironmentItem),
  /** The position of the page in the list. */
  page_info: v.exactOptional(PageInfo),
});
export type ListEnvironmentsResponse = v.InferOutput<typeof ListEnvironmentsResponse>;
