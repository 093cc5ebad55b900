import type { RunBody } from "#shared/records/run-body.ts";
import { readTeam } from "#shared/records/team.ts";
import type { Owner } from "#shared/table/keys.ts";
import type { Table } from "#shared/table/table.ts";
import type { SecretVault } from "#shared/vault/secret-vault.ts";
import type { InjectedSecret } from "#shared/wire/harness.ts";
import { isReservedName } from "#shared/wire/secrets/secret.ts";
import { PROVIDER_KEY } from "./run-secrets.ts";
import { secretStore } from "./secret-store.ts";

export interface InjectionPorts {
  readonly table: Table;
  readonly vault: Pick<SecretVault, "getAll">;
}

/** Reads the current values of a run's secrets, each with its value or the reason why it is missing. */
export async function readInjectedSecrets(
  { secrets = [], execution_location: location }: Pick<RunBody, "secrets" | "execution_location">,
  owner: Owner,
  { table, vault }: InjectionPorts,
): Promise<InjectedSecret[]> {
  const checked = secrets.map(({ name, refused }) => ({ name, refused: refused ?? findRefusal(name, location) }));
  const wanted = checked.filter(({ refused }) => refused === undefined).map(({ name }) => name);
  const [named, team] =
    wanted.length === 0
      ? [[], undefined]
      : await Promise.all([secretStore(table).getMany(owner.uid, wanted), readTeam(owner.uid, table)]);
  const keys = new Set(Object.values(team?.provider_keys ?? {}));
  const known = named.filter(({ name }) => !keys.has(name));
  const ids = known.map(({ id }) => id);
  const values = ids.length === 0 ? new Map<string, string>() : await vault.getAll(owner.uid, ids);
  const idOf = new Map(known.map(({ name, id }) => [name, id]));
  return checked.map(({ name, refused }) => {
    if (refused !== undefined) return { name, unavailable: refused };
    if (keys.has(name)) return { name, unavailable: PROVIDER_KEY };
    const value = values.get(idOf.get(name) ?? "");
    return value === undefined ? { name, unavailable: MISSING } : { name, value };
  });
}

function findRefusal(name: string, location: RunBody["execution_location"]): string | undefined {
  if (location === "LOCAL") return "the run is executed by its caller, who gets no values of secrets";
  // It was stored before such names were refused.
  return isReservedName(name)
    ? "programs interpret a variable of this name; store the secret under another name"
    : undefined;
}

const MISSING = "the team has no secret of this name; create it, or remove it from the environment or identity";
