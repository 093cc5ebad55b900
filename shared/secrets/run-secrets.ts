import { type Environment, isOwnedBy } from "#shared/environments/environment.ts";
import type { Identity } from "#shared/records/identity.ts";
import type { RunBody, RunSecret } from "#shared/records/run-body.ts";
import type { Owner } from "#shared/table/keys.ts";
import type { UserProfile } from "#shared/wire/run.ts";

/** A new run, as far as its secrets depend on it. */
export interface SecretOwner {
  readonly owner: Owner;
  readonly creator: UserProfile;
  readonly environment: Environment | undefined;
  readonly identity: Pick<Identity, "secrets"> | undefined;
  readonly parent: { readonly secrets: RunBody["secrets"] } | undefined;
}

/**
 * Resolves the secrets that a new run's environment and identity name, with the reason where the run may not have one. Only
 * names are stored: an execution gets the values that are current when it starts.
 */
export function resolveSecrets({ environment, identity, ...run }: SecretOwner): Pick<RunBody, "secrets"> {
  const byIdentity = new Set(identity?.secrets);
  const names = new Set([...(environment?.secrets ?? []), ...byIdentity]);
  const isForeign = environment !== undefined && !isOwn(environment, run);
  const secrets = [...names].map((name): RunSecret => {
    const refused = findRefusal(name, isForeign && !byIdentity.has(name), run);
    return refused === undefined ? { name } : { name, refused };
  });
  return secrets.length === 0 ? {} : { secrets };
}

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
