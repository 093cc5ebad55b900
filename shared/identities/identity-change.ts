import { refuseBlockedServers } from "#shared/environments/outward-urls.ts";
import { invalid } from "#shared/errors.ts";
import { checkModel } from "#shared/models/models.ts";
import type { Identity } from "#shared/records/identity.ts";
import type { Value } from "#shared/table/table.ts";
import type { ResolvedAgentConfig } from "#shared/wire/config.ts";
import type { CreateIdentityRequest, UpdateIdentityRequest } from "#shared/wire/identity.ts";
import type { IdentityChange } from "./identity-store.ts";

type Servers = NonNullable<ResolvedAgentConfig["mcp_servers"]>;
type Defaults = Omit<UpdateIdentityRequest, "name">;

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
  refuseBlockedServers(mcp_servers, "mcp_servers");
  const given: Record<string, Value | null | undefined> = {
    description: request.description,
    prompt: request.prompt,
    base_model: request.base_model,
    environment_id: request.environment_id,
    skills: request.skills,
    mcp_servers: mcp_servers ? unmask(mcp_servers, before?.mcp_servers ?? {}) : mcp_servers,
    harness: request.harness,
    worker_host: request.worker_host,
    secrets: secrets?.map(({ name }) => name),
    on_behalf_of_enabled: request.on_behalf_of_enabled,
    credential_strategy: request.credential_strategy,
  };
  const set: Record<string, Value> = {};
  const remove: string[] = [];
  for (const [name, value] of Object.entries(given)) {
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

function isEmpty(value: Value): boolean {
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
