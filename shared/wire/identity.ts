import * as v from "valibot";
import {
  AmbientAgentConfig,
  HarnessName,
  hasFittingProgram,
  PROGRAM_METADATA,
  PROGRAM_RULE,
  ResolvedAgentConfig,
  SkillSpec,
} from "./config.ts";
import { LimitDefaults, StoredLimits } from "./limits/run-limits.ts";
import { PageInfo } from "./list.ts";
import { Id, optional, text, textOfBytes } from "./primitives.ts";
import { SecretReferences } from "./secrets/secret-name.ts";

const IdentityName = text(128, 1);

const config = AmbientAgentConfig.entries;
const harness = config.harness.wrapped.entries;

/** A harness. An object without members clears it. */
const Harness = v.pipe(
  v.object({ ...harness, type: v.exactOptional(harness.type) }),
  v.check(
    (given) => given.type !== undefined || Object.keys(given).length === 0,
    "must have a type, or no members to clear the harness",
  ),
  v.check((given) => hasFittingProgram(given), PROGRAM_RULE),
  v.metadata({ dependentRequired: { model_id: ["type"], reasoning_level: ["type"] }, ...PROGRAM_METADATA }),
);

/** The defaults of an identity in requests: `""`, `[]` and `{}` clear a value. */
const IdentityDefaults = {
  /** A description for people. */
  description: optional(text(4096)),
  /** Additional instructions for the runs of the identity. */
  prompt: optional(textOfBytes(65_536)),
  /** The model of runs that set none. */
  base_model: optional(textOfBytes(512)),
  /** The environment of runs that set none. */
  environment_id: optional(textOfBytes(512)),
  /** The skills of runs that set none, at most 20. */
  skills: optional(v.pipe(v.array(SkillSpec), v.maxLength(20))),
  /** The MCP servers of runs that set none: a map from name to server, at most 50. */
  mcp_servers: optional(config.mcp_servers.wrapped),
  /** The harness of runs that set none. Responses omit it for the default harness. */
  harness: optional(Harness),
  /** The self-hosted worker of runs that set none. Defaults to `hosted`, a sandbox of the service. */
  worker_host: optional(textOfBytes(512)),
  /** The secrets available to runs, at most 50. */
  secrets: optional(SecretReferences),
  /** Whether keys of the identity may create runs on behalf of members. Defaults to false. */
  on_behalf_of_enabled: optional(v.boolean()),
  /** Whose credentials its runs use: their creator's or their executor's. Has no effect in this release. */
  credential_strategy: optional(v.picklist(["CREATOR", "EXECUTOR", ""])),
  ...LimitDefaults,
  /** The older name of `harness.type`. `""` clears the harness. */
  base_harness: optional(v.union([HarnessName, v.literal("")])),
  /** The secrets with the API keys for its runs' calls to Anthropic's and OpenAI's models. */
  harness_auth_secrets: optional(config.harness_auth_secrets.wrapped),
};

/** A new identity. */
export const CreateIdentityRequest = v.object({
  /** The identity's name, unique within the team. */
  name: IdentityName,
  ...IdentityDefaults,
});
export type CreateIdentityRequest = v.InferOutput<typeof CreateIdentityRequest>;

/** Changes to an identity. Members that are absent or null keep their values. */
export const UpdateIdentityRequest = v.object({
  /** The identity's name, unique within the team. */
  name: optional(IdentityName),
  ...IdentityDefaults,
  /** Secrets to add to those of the identity. Must be the only member of its request. */
  secrets_append: optional(SecretReferences),
});
export type UpdateIdentityRequest = v.InferOutput<typeof UpdateIdentityRequest>;

/** An identity as responses show it, with the defaults that are set. */
export const IdentityItem = v.object({
  /** The identity's id. */
  uid: v.string(),
  /** The identity's name, unique within the team. */
  name: v.string(),
  /** Whether the identity can be used. The team's `identity_limit` counts its oldest identities first. */
  available: v.boolean(),
  /** The time of creation. @format date-time */
  created_at: v.string(),
  /** The time of the latest change. @format date-time */
  updated_at: v.string(),
  /** The owner. */
  scope: v.object({
    /** Always `Team`. */
    type: v.literal("Team"),
    /** The team's id. */
    uid: v.string(),
  }),
  /** A description for people. */
  description: v.exactOptional(v.string()),
  /** Additional instructions for the runs of the identity. */
  prompt: v.exactOptional(v.string()),
  /** The model of runs that set none. */
  base_model: v.exactOptional(v.string()),
  /** The environment of runs that set none. */
  environment_id: v.exactOptional(v.string()),
  /** The skills of runs that set none, at most 20. */
  skills: v.array(v.string()),
  /** The MCP servers of runs that set none: a map from name to server, at most 50. */
  mcp_servers: ResolvedAgentConfig.entries.mcp_servers,
  /** The harness of runs that set none. Responses omit it for the default harness. */
  harness: ResolvedAgentConfig.entries.harness,
  /** The self-hosted worker of runs that set none. Defaults to `hosted`, a sandbox of the service. */
  worker_host: v.exactOptional(v.string()),
  ...StoredLimits,
  /** The secrets with the API keys for its runs' calls to Anthropic's and OpenAI's models. */
  harness_auth_secrets: config.harness_auth_secrets,
  /** The secrets available to runs, at most 50. */
  secrets: v.array(
    v.object({
      /** The secret's name. */
      name: v.string(),
    }),
  ),
  /** The identity's memory across runs. */
  memory: v.object({
    /** The automatic memory. */
    auto_memory: v.object({
      /** Whether the automatic memory is enabled. */
      enabled: v.boolean(),
    }),
    /** The ids of the attached memory stores. */
    attached_stores: v.array(Id),
  }),
  /** The default execution location of the identity's runs. */
  default_runner_uid: v.string(),
  /** Whether keys of the identity may create runs on behalf of members. Defaults to false. */
  on_behalf_of_enabled: v.exactOptional(v.boolean()),
  /** Whose credentials its runs use: their creator's or their executor's. Has no effect in this release. */
  credential_strategy: v.exactOptional(v.picklist(["CREATOR", "EXECUTOR"])),
});
export type IdentityItem = v.InferOutput<typeof IdentityItem>;

/** A page of identities. */
export const ListIdentitiesResponse = v.object({
  /** The identities, oldest first. */
  agents: v.array(IdentityItem),
  /** The position of the page in the list. */
  page_info: v.exactOptional(PageInfo),
});
export type ListIdentitiesResponse = v.InferOutput<typeof ListIdentitiesResponse>;
