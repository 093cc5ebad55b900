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

/** Takes the key out of what a provider returned, whatever it looks like. */
export const hideKey = (text: string, ownKey: OwnKey | undefined): string =>
  ownKey === undefined ? text : text.replaceAll(ownKey.value, "[redacted]");

export interface KeyPorts {
  readonly table: Table;
  readonly vault: Pick<SecretVault, "getAll">;
}

/**
 * Reads the key for a call: that of the run, else that of its team; undefined where the deployment's is used. The run's keys are for the
 * companies' own servers, and never leave for another address that has their API.
 * @throws RunyardError where the secret does not exist: the deployment does not pay in its place
 */
export async function readOwnKey(
  head: Pick<RunHead, "scope" | "auth">,
  model: Pick<ProvidedModel, "id" | "from" | "of">,
  team: Team | undefined,
  { table, vault }: KeyPorts,
): Promise<OwnKey | undefined> {
  const secret = findRunSecret(head, model) ?? team?.provider_keys?.[model.from];
  if (secret === undefined || team === undefined) return undefined;
  const [stored] = await secretStore(table).getMany(team.uid, [secret]);
  const value = stored && (await vault.getAll(parseOwner(head).uid, [stored.id])).get(stored.id)?.trim();
  if (!value || !/^[\x21-\x7e]+$/.test(value)) {
    throw new RunyardError("integration_not_configured", {
      detail: `the secret ${secret}, which is the key for ${model.from}, ${value ? "is no key" : "does not exist"}: set it again, or use the deployment's key`,
    });
  }
  return { secret, value };
}

function findRunSecret({ auth }: Pick<RunHead, "auth">, { id, of }: Pick<ProvidedModel, "id" | "of">) {
  if (auth === undefined || findProvider(id)?.isCustom !== false) return undefined;
  if (of === "anthropic") return auth.claude;
  return of === "openai" ? auth.codex : undefined;
}

/** Values that are kept in memory. */
const MAX_KEPT = 1_000;
/** Milliseconds for which a value is kept. A secret that was deleted or replaced is not found under the same id any more. */
const KEPT_MS = 10 * 60_000;

/** A vault whose values are read once: a run calls its models many times, and the store of the values limits reads. */
export function keepValues({ getAll }: KeyPorts["vault"], now: () => number): KeyPorts["vault"] {
  const kept = new Map<string, { readonly value: string; readonly until: number }>();
  return {
    async getAll(team, ids) {
      const known = ids.flatMap((id) => {
        const found = kept.get(id);
        return found === undefined || found.until <= now() ? [] : [[id, found.value] as const];
      });
      const values = new Map(known);
      const missing = ids.filter((id) => !values.has(id));
      if (missing.length === 0) return values;
      if (kept.size >= MAX_KEPT) kept.clear();
      for (const [id, value] of await getAll(team, missing)) {
        values.set(id, value);
        kept.set(id, { value, until: now() + KEPT_MS });
      }
      return values;
    },
  };
}
