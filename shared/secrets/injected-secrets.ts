import type { RunBody } from "#shared/records/run-body.ts";
import { keys, type Owner } from "#shared/table/keys.ts";
import type { Table } from "#shared/table/table.ts";
import type { SecretVault } from "#shared/vault/secret-vault.ts";
import type { InjectedSecret } from "#shared/wire/harness.ts";
import { isReservedName } from "#shared/wire/secret.ts";
import { parseSecret } from "./secrets.ts";

export interface InjectionPorts {
  readonly table: Table;
  readonly vault: Pick<SecretVault, "getAll">;
}

/** The values of a run's secrets as they are now, each or why it is missing. Nothing is read for a run without any. */
export async function injectedSecrets(
  { secrets = [], execution_location: location }: Pick<RunBody, "secrets" | "execution_location">,
  owner: Owner,
  { table, vault }: InjectionPorts,
): Promise<InjectedSecret[]> {
  const checked = secrets.map(({ name, refused }) => ({ name, refused: refused ?? refusalOf(name, location) }));
  const wanted = checked.filter(({ refused }) => refused === undefined).map(({ name }) => name);
  const items = wanted.length === 0 ? [] : await table.batchGet(wanted.map((name) => keys.secret(owner.uid, name)));
  const known = items.filter((item) => item !== undefined).map(parseSecret);
  const ids = known.map(({ id }) => id);
  const values = ids.length === 0 ? new Map<string, string>() : await vault.getAll(owner.uid, ids);
  const idOf = new Map(known.map(({ name, id }) => [name, id]));
  return checked.map(({ name, refused }) => {
    if (refused !== undefined) return { name, unavailable: refused };
    const value = values.get(idOf.get(name) ?? "");
    return value === undefined ? { name, unavailable: MISSING } : { name, value };
  });
}

function refusalOf(name: string, location: RunBody["execution_location"]): string | undefined {
  if (location === "LOCAL") return "the run is executed by who made it, and values are not handed out";
  // It was kept before such names were refused.
  return isReservedName(name) ? "programs obey a variable of this name; keep it under another" : undefined;
}

const MISSING = "the team has no secret of this name; create it, or take it out of the environment or identity";
