import * as v from "valibot";
import { AmbientAgentConfig, ResolvedAgentConfig, SkillSpec } from "./config.ts";
import { LimitDefaults, StoredLimits } from "./limits/run-limits.ts";
import { PageInfo } from "./list.ts";
import { Id, text, textOfBytes } from "./primitives.ts";
import { SecretName } from "./secrets/secret-name.ts";

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
  v.metadata({ dependentRequired: { model_id: ["type"], reasoning_level: ["type"] } }),
);

/** A member of a request that may be absent or null, with the same meaning. */
const optional = <T>(schema: v.GenericSchema<unknown, T>) => v.exactOptional(v.nullable(schema));

/** The defaults of an identity in requests: `""`, `[]` and `{}` clear a value. */
const IdentityDefaults = {
  description: optional(text(4096)),
  prompt: optional(textOfBytes(65_536)),
  base_model: optional(textOfBytes(512)),
  environment_id: optional(textOfBytes(512)),
  skills: optional(v.pipe(v.array(SkillSpec), v.maxLength(20))),
  mcp_servers: v.exactOptional(v.nullable(config.mcp_servers.wrapped)),
  harness: v.exactOptional(v.nullable(Harness)),
  worker_host: optional(textOfBytes(512)),
  secrets: optional(v.pipe(v.array(v.object({ name: SecretName })), v.maxLength(50))),
  on_behalf_of_enabled: optional(v.boolean()),
  credential_strategy: optional(v.picklist(["CREATOR", "EXECUTOR", ""])),
  ...LimitDefaults,
  /** The older name of `harness.type`. */
  base_harness: optional(v.union([harness.type, v.literal("")])),
  harness_auth_secrets: v.exactOptional(v.nullable(config.harness_auth_secrets.wrapped)),
};

/** A new identity. */
export const CreateIdentityRequest = v.object({ name: IdentityName, ...IdentityDefaults });
export type CreateIdentityRequest = v.InferOutput<typeof CreateIdentityRequest>;

/** Changes to an identity. Members that are absent or null keep their values. */
export const UpdateIdentityRequest = v.object({
  name: optional(IdentityName),
  ...IdentityDefaults,
  /** Secrets to add to those of the identity. Excludes all other members. */
  secrets_append: optional(v.pipe(v.array(v.object({ name: SecretName })), v.maxLength(50))),
});
export type UpdateIdentityRequest = v.InferOutput<typeof UpdateIdentityRequest>;

/** An identity as responses show it, with the defaults that are set. */
export const IdentityItem = v.object({
  uid: v.string(),
  name: v.string(),
  /** Whether the identity can be used. The team's `identity_limit` counts its oldest identities first. */
  available: v.boolean(),
  created_at: v.string(),
  updated_at: v.string(),
  scope: v.object({ type: v.literal("Team"), uid: v.string() }),
  description: v.exactOptional(v.string()),
  prompt: v.exactOptional(v.string()),
  base_model: v.exactOptional(v.string()),
  environment_id: v.exactOptional(v.string()),
  skills: v.array(v.string()),
  mcp_servers: ResolvedAgentConfig.entries.mcp_servers,
  harness: ResolvedAgentConfig.entries.harness,
  worker_host: v.exactOptional(v.string()),
  ...StoredLimits,
  harness_auth_secrets: config.harness_auth_secrets,
  secrets: v.array(v.object({ name: v.string() })),
  memory: v.object({ auto_memory: v.object({ enabled: v.boolean() }), attached_stores: v.array(Id) }),
  default_runner_uid: v.string(),
  on_behalf_of_enabled: v.exactOptional(v.boolean()),
  credential_strategy: v.exactOptional(v.picklist(["CREATOR", "EXECUTOR"])),
});
export type IdentityItem = v.InferOutput<typeof IdentityItem>;

/** A page of identities. */
export const ListIdentitiesResponse = v.object({ agents: v.array(IdentityItem), page_info: v.exactOptional(PageInfo) });
