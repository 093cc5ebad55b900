import { RunyardError } from "#shared/errors.ts";
import type { ProvidedModel } from "#shared/models/models.ts";
import { findProvider } from "#shared/models/providers.ts";
import { parseOwner, type RunHead } from "#shared/records/run-head.ts";
import type { Team } from "#shared/records/team.ts";
import { secretStore } from "#shared/secrets/secret-store.ts";
import type { Table } from "#shared/table/table.ts";
import type { SecretVault } from "#shared/vault/secret-vault.ts";

/** A key of a team or a run, which the gateway uses in place of the deployment's. */
export interface OwnKey {
  /** The name of the team's secret. */
  readonly secret: string;
  readonly value: string;
}

/** Redacts the key from what a provider returned, whatever it looks like. */
export const hideKey = (text: string, ownKey: OwnKey | undefined): string =>
  ownKey === undefined ? text : text.replaceAll(ownKey.value, "[redacted]");

export interface KeyPorts {
  readonly table: Table;
  readonly vault: Pick<SecretVault, "getAll">;
}

/**
 * Reads the key for a call: that of the run, else that of its team; undefined where the deployment's is used. The run's keys are for the
 * companies' own servers, and are never sent to another address with the same API.
 * @throws RunyardError where the secret does not exist: the deployment does not pay in its place
 */
export async function readOwnKey(
  head: Pick<RunHead, "scope" | "auth">,
  model: Pick<ProvidedModel, "id" | "providerName" | "providerKind">,
  team: Team | undefined,
  { table, vault }: KeyPorts,
): Promise<OwnKey | undefined> {
  const secret = findRunSecret(head, model) ?? team?.provider_keys?.[model.providerName];
  if (secret === undefined || team === undefined) return undefined;
  const [stored] = await secretStore(table).getMany(team.uid, [secret]);
  const value = stored && (await vault.getAll(parseOwner(head).uid, [stored.id])).get(stored.id)?.trim();
  if (!value || !/^[\x21-\x7e]+$/.test(value)) {
    throw new RunyardError("integration_not_configured", {
      detail: `the secret ${secret}, which is the key for ${model.providerName}, ${value ? "is no key" : "does not exist"}: set it again, or use the deployment's key`,
    });
  }
  return { secret, value };
}

function findRunSecret({ auth }: Pick<RunHead, "auth">, model: Pick<ProvidedModel, "id" | "providerKind">) {
  if (auth === undefined || findProvider(model.id)?.isCustom !== false) return undefined;
  if (model.providerKind === "anthropic") return auth.claude;
  return model.providerKind === "openai" ? auth.codex : undefined;
}

/** The most values in memory. */
const MAX_VALUES = 1_000;
/** Milliseconds for which a value is cached. A secret that was deleted or replaced is not found under the same id any more. */
const CACHED_MS = 10 * 60_000;

/** Caches the values of a vault: a run calls its models many times, and the store of the values limits reads. */
export function cacheValues({ getAll }: KeyPorts["vault"], now: () => number): KeyPorts["vault"] {
  const cache = new Map<string, { readonly value: string; readonly until: number }>();
  return {
    async getAll(team, ids) {
      const known = ids.flatMap((id) => {
        const found = cache.get(id);
        return found === undefined || found.until <= now() ? [] : [[id, found.value] as const];
      });
      const values = new Map(known);
      const missing = ids.filter((id) => !values.has(id));
      if (missing.length === 0) return values;
      if (cache.size >= MAX_VALUES) cache.clear();
      for (const [id, value] of await getAll(team, missing)) {
        values.set(id, value);
        cache.set(id, { value, until: now() + CACHED_MS });
      }
      return values;
    },
  };
}
