import { refuseBlockedServers } from "#shared/environments/outward-urls.ts";
import { invalid } from "#shared/errors.ts";
import { checkModel } from "#shared/models/models.ts";
import type { Identity } from "#shared/records/identity.ts";
import type { Value } from "#shared/table/table.ts";
import type { ResolvedAgentConfig } from "#shared/wire/config.ts";
import type { CreateIdentityRequest, UpdateIdentityRequest } from "#shared/wire/identity.ts";

type Servers = NonNullable<ResolvedAgentConfig["mcp_servers"]>;
type Defaults = Omit<UpdateIdentityRequest, "name">;

/** Bytes of an identity: with its keys it has to go into one item of the table. */
const IDENTITY_BYTES = 256 * 1024;

/** What a request changes of an identity: attributes to set, and those that it clears. */
export interface IdentityChange {
  readonly set: Readonly<Record<string, Value>>;
  readonly remove: readonly string[];
}

/**
 * Reads a request's defaults: absent or null says nothing, an empty value clears. A masked value of an MCP server, as
 * answers show it, stands for the one that is stored.
 */
export function changeOf(request: Defaults | CreateIdentityRequest, before: Identity | undefined): IdentityChange {
  if (request.base_model) checkModel(request.base_model, "base_model");
  const { secrets, mcp_servers } = request;
  refuseBlockedServers(mcp_servers, "mcp_servers");
  const given: Record<string, Value | null | undefined> = {
    description: request.description,
    prompt: request.prompt,
    base_model: request.base_model,
    environment_id: request.environment_id,
    skills: request.skills,
    mcp_servers: mcp_servers ? unmasked(mcp_servers, before?.mcp_servers ?? {}) : mcp_servers,
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
  if (Buffer.byteLength(JSON.stringify(after)) > IDENTITY_BYTES) {
    throw invalid("body", `an identity has at most ${IDENTITY_BYTES} bytes as JSON`);
  }
  return { set, remove };
}

function isEmpty(value: Value): boolean {
  if (typeof value === "string") return value === "";
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}

const MASK = "***";

function unmasked(given: Servers, stored: Servers): Servers {
  return Object.fromEntries(
    Object.entries(given).map(([name, { env, headers, ...server }]) => [
      name,
      {
        ...server,
        ...(env === undefined ? {} : { env: withStored(env, stored[name]?.env) }),
        ...(headers === undefined ? {} : { headers: withStored(headers, stored[name]?.headers) }),
      },
    ]),
  );
}

function withStored(given: Record<string, string>, stored: Record<string, string> = {}): Record<string, string> {
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => [name, value === MASK ? (stored[name] ?? value) : value]),
  );
}
