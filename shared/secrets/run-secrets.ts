import { type Environment, isOwnedBy } from "#shared/environments/environment.ts";
import { invalid } from "#shared/errors.ts";
import type { Identity } from "#shared/records/identity.ts";
import type { RunBody, RunSecret } from "#shared/records/run-body.ts";
import type { Owner } from "#shared/table/keys.ts";
import type { Table } from "#shared/table/table.ts";
import type { AmbientAgentConfig, ResolvedAgentConfig } from "#shared/wire/config.ts";
import type { UserProfile } from "#shared/wire/run.ts";
import { secretStore } from "./secret-store.ts";

/** A new run, as far as its secrets depend on it. */
export interface SecretOwner {
  readonly owner: Owner;
  readonly creator: UserProfile;
  readonly environment: Environment | undefined;
  readonly identity: Pick<Identity, "secrets"> | undefined;
  readonly parent: { readonly secrets: RunBody["secrets"] } | undefined;
  readonly config: ResolvedAgentConfig;
}

/**
 * Resolves the secrets that a new run's configuration, environment and identity name, with the reason where the run may not have one.
 * Only names are stored: an execution gets the values that are current when it starts. The configuration shows those that the run may have.
 */
export function resolveSecrets({
  environment,
  identity,
  config,
  ...run
}: SecretOwner): Pick<RunBody, "secrets" | "config"> {
  const own = new Set([...(config.secrets ?? []).map(({ name }) => name), ...(identity?.secrets ?? [])]);
  const names = new Set([...(environment?.secrets ?? []), ...own]);
  const isForeign = environment !== undefined && !isOwn(environment, run);
  const keys = Object.values(config.harness_auth_secrets ?? {});
  const secrets = [...names].map((name): RunSecret => {
    const refused = keys.includes(name) ? PROVIDER_KEY : findRefusal(name, isForeign && !own.has(name), run);
    return refused === undefined ? { name } : { name, refused };
  });
  if (secrets.length === 0) return { config };
  const usable = secrets.filter(({ refused }) => refused === undefined).map(({ name }) => ({ name }));
  return { secrets, config: usable.length === 0 ? config : { ...config, secrets: usable } };
}

/**
 * Refuses secrets that a configuration names and its runs could not have: those of another team, or of none.
 * @param path where the configuration is in the request
 */
export async function requireSecrets(
  { secrets = [], harness_auth_secrets = {} }: Pick<AmbientAgentConfig, "secrets" | "harness_auth_secrets">,
  path: string,
  run: Pick<SecretOwner, "owner" | "parent">,
  table: Table,
): Promise<void> {
  // A child of a run has the keys for models that the run itself has, or none.
  const keys = Object.entries(harness_auth_secrets).map(([member, name]) => ({
    name,
    path: `${path}.harness_auth_secrets.${member}`,
    parent: undefined,
  }));
  const injected = secrets.map(({ name }, index) => ({
    name,
    path: `${path}.secrets[${index}].name`,
    parent: run.parent,
  }));
  const all = [...injected, ...keys];
  if (all.length === 0) return;
  const names = [...new Set(all.map(({ name }) => name))];
  const known = new Set((await secretStore(table).getMany(run.owner.uid, names)).map(({ name }) => name));
  for (const { name, path: member, parent } of all) {
    const refused =
      findRefusal(name, false, { owner: run.owner, parent }) ??
      (known.has(name) ? undefined : "the team has no secret of this name");
    if (refused !== undefined) throw invalid(member, `${name}: ${refused}`);
  }
}

/** Why a run does not get the value of a secret that is a key for models. */
export const PROVIDER_KEY = "it is a key of a model provider, which the model gateway uses for the run";

/** The writers of an environment decide which secrets its commands get, so a run of another team gets none through it. */
const isOwn = (environment: Environment, { owner, creator }: Pick<SecretOwner, "owner" | "creator">): boolean =>
  isOwnedBy(environment, owner) ||
  (creator.type === "user" && isOwnedBy(environment, { type: "User", uid: creator.uid }));

function findRefusal(
  name: string,
  isForeign: boolean,
  { owner, parent }: Pick<SecretOwner, "owner" | "parent">,
): string | undefined {
  if (owner.type !== "Team") return "secrets belong to teams, and this is a personal run";
  if (isForeign) return "the environment is shared with the run's team, and its secrets are for its owner's runs only";
  const parents = parent?.secrets?.filter(({ refused }) => refused === undefined).map((secret) => secret.name);
  if (parent !== undefined && parents?.includes(name) !== true) return "the run's parent does not have it";
  return undefined;
}
