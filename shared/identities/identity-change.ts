import { refuseBlockedServers } from "#shared/environments/outward-urls.ts";
import { invalid } from "#shared/errors.ts";
import { checkFallbackModels, checkModel } from "#shared/models/models.ts";
import { checkOutputSchema } from "#shared/output/check-output-schema.ts";
import type { Identity } from "#shared/records/identity.ts";
import { checkHarnessLevel } from "#shared/runs/harness-model.ts";
import type { Value } from "#shared/table/table.ts";
import type { ResolvedAgentConfig } from "#shared/wire/config.ts";
import type { CreateIdentityRequest, UpdateIdentityRequest } from "#shared/wire/identity.ts";
import type { IdentityChange } from "./identity-store.ts";

type Servers = NonNullable<ResolvedAgentConfig["mcp_servers"]>;
type Defaults = UpdateIdentityRequest;

/** Secrets that an identity names. */
const MAX_SECRETS = 50;

/** Bytes of an identity: it is stored in one item of the table. */
const MAX_IDENTITY_BYTES = 256 * 1024;

/**
 * Converts a request's defaults to a change: absent or null leaves an attribute as it is, an empty value clears it. A
 * masked value of an MCP server, as responses show it, stands for the stored one.
 */
export function toIdentityChange(
  request: Defaults | CreateIdentityRequest,
  before: Identity | undefined,
): IdentityChange {
  if (request.base_model) checkModel(request.base_model, "base_model");
  const { secrets, mcp_servers } = request;
  const harness = chooseHarness(request);
  checkFallbackModels(request.fallback_model_ids ?? [], "fallback_model_ids");
  checkOutputSchema(request.output_schema, "output_schema");
  checkHarnessLevel(harness ?? undefined, "harness");
  refuseBlockedServers(mcp_servers, "mcp_servers");
  const values: Record<string, Value | null | undefined> = {
    description: request.description,
    prompt: request.prompt,
    base_model: request.base_model,
    environment_id: request.environment_id,
    skills: request.skills,
    mcp_servers: mcp_servers ? unmask(mcp_servers, before?.mcp_servers ?? {}) : mcp_servers,
    harness,
    harness_auth_secrets: request.harness_auth_secrets,
    timeout_minutes: request.timeout_minutes,
    max_steps: request.max_steps,
    max_total_tokens: request.max_total_tokens,
    fallback_model_ids: request.fallback_model_ids,
    reasoning_level: request.reasoning_level,
    output_schema: request.output_schema,
    approvals: request.approvals,
    commit_author: request.commit_author,
    worker_host: request.worker_host,
    secrets: appendSecrets(request, before) ?? secrets?.map(({ name }) => name),
    on_behalf_of_enabled: request.on_behalf_of_enabled,
    credential_strategy: request.credential_strategy,
  };
  const set: Record<string, Value> = {};
  const remove: string[] = [];
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined || value === null) continue;
    if (isEmpty(value)) remove.push(name);
    else set[name] = value;
  }
  const after = { ...before, ...Object.fromEntries(remove.map((name) => [name, ""])), ...set };
  if (Buffer.byteLength(JSON.stringify(after)) > MAX_IDENTITY_BYTES) {
    throw invalid("body", `an identity has at most ${MAX_IDENTITY_BYTES} bytes as JSON`);
  }
  return { set, remove };
}

/** The harness of a request, whose type may also have its older name. */
function chooseHarness({ harness, base_harness }: Defaults): Defaults["harness"] {
  if (base_harness === undefined || base_harness === null) return harness;
  if (harness === undefined || harness === null) return base_harness === "" ? {} : { type: base_harness };
  if (toHarnessName(harness.type) !== toHarnessName(base_harness)) {
    throw invalid("base_harness", "is the older name of harness.type, which has another value: send one of the two");
  }
  return harness;
}

const toHarnessName = (type: string | undefined): string => (type === "oz" ? "default" : (type ?? ""));

/** The secrets of an identity together with those that a request adds, which asks for nothing else. */
function appendSecrets(request: Defaults, before: Identity | undefined): string[] | undefined {
  const { secrets_append: added, ...others } = request;
  if (added === undefined || added === null) return undefined;
  if (Object.values(others).some((value) => value !== undefined && value !== null)) {
    throw invalid("secrets_append", "must be the only member of its request");
  }
  const all = [...new Set([...(before?.secrets ?? []), ...added.map(({ name }) => name)])];
  if (all.length > MAX_SECRETS) {
    throw invalid(
      "secrets_append",
      `an identity names at most ${MAX_SECRETS} secrets, and this would be ${all.length}`,
    );
  }
  return all;
}

function isEmpty(value: Value): boolean {
  if (value === 0) return true;
  if (typeof value === "string") return value === "";
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}

const MASK = "***";

function unmask(given: Servers, stored: Servers): Servers {
  return Object.fromEntries(
    Object.entries(given).map(([name, { env, headers, ...server }]) => [
      name,
      {
        ...server,
        ...(env === undefined ? {} : { env: replaceMasked(env, stored[name]?.env) }),
        ...(headers === undefined ? {} : { headers: replaceMasked(headers, stored[name]?.headers) }),
      },
    ]),
  );
}

function replaceMasked(given: Record<string, string>, stored: Record<string, string> = {}): Record<string, string> {
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => [name, value === MASK ? (stored[name] ?? value) : value]),
  );
}
