import type { RunBody } from "#shared/records/run-body.ts";
import { readTeam } from "#shared/records/team.ts";
import type { Owner } from "#shared/table/keys.ts";
import type { InjectedSecret } from "#shared/wire/secrets/injected-secret.ts";
import { isReservedName } from "#shared/wire/secrets/reserved-name.ts";
import { type RenewalPorts, renewSecret } from "./renew-secret.ts";
import { PROVIDER_KEY } from "./run-secrets.ts";
import { secretStore } from "./secret-store.ts";

export type InjectionPorts = RenewalPorts;

/**
 * Reads the current values of a run's secrets, each with its value or the reason why it is missing. Renews tokens that are about to expire,
 * and those that a server has refused.
 */
export async function readInjectedSecrets(
  { secrets = [], execution_location: location }: Pick<RunBody, "secrets" | "execution_location">,
  owner: Owner,
  refusedTokens: readonly string[],
  ports: InjectionPorts,
): Promise<InjectedSecret[]> {
  const { table, vault } = ports;
  const checked = secrets.map(({ name, refused }) => ({ name, refused: refused ?? findRefusal(name, location) }));
  const names = checked.filter(({ refused }) => refused === undefined).map(({ name }) => name);
  const [named, team] =
    names.length === 0
      ? [[], undefined]
      : await Promise.all([secretStore(table).getMany(owner.uid, names), readTeam(owner.uid, table)]);
  const keys = new Set(Object.values(team?.provider_keys ?? {}));
  const known = named.filter(({ name }) => !keys.has(name));
  const found = await Promise.all(
    known.map(async (secret) => ({
      secret,
      problem: await renewSecret(secret, refusedTokens.includes(secret.name), ports),
    })),
  );
  const byName = new Map(found.map((one) => [one.secret.name, one]));
  const ids = known.map(({ id }) => id);
  const values = ids.length === 0 ? new Map<string, string>() : await vault.getAll(owner.uid, ids);
  return checked.map(({ name, refused }) => {
    if (refused !== undefined) return { name, unavailable: refused };
    if (keys.has(name)) return { name, unavailable: PROVIDER_KEY };
    const { secret, problem } = byName.get(name) ?? {};
    const value = values.get(secret?.id ?? "");
    if (value === undefined) return { name, unavailable: MISSING };
    return { name, value, ...(secret?.renewal === undefined ? {} : { renewable: true as const }), ...problem };
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
