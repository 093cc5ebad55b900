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
 * The secrets that a new run's environment and identity name, and why it may not have one of them. Names alone are kept: a
 * run gets the values as they are when an execution begins.
 */
export function secretsOf({ environment, identity, ...holder }: SecretOwner): Pick<RunBody, "secrets"> {
  const byIdentity = new Set(identity?.secrets);
  const names = new Set([...(environment?.secrets ?? []), ...byIdentity]);
  const isForeign = environment !== undefined && !isOwn(environment, holder);
  const secrets = [...names].map((name): RunSecret => {
    const refused = refusalOf(name, isForeign && !byIdentity.has(name), holder);
    return refused === undefined ? { name } : { name, refused };
  });
  return secrets.length === 0 ? {} : { secrets };
}

/** Whoever may write an environment says which secrets its commands get: of no other team than that person's. */
const isOwn = (environment: Environment, { owner, creator }: Pick<SecretOwner, "owner" | "creator">): boolean =>
  isOwnedBy(environment, owner) ||
  (creator.type === "user" && isOwnedBy(environment, { type: "User", uid: creator.uid }));

function refusalOf(
  name: string,
  isForeign: boolean,
  { owner, parent }: Pick<SecretOwner, "owner" | "parent">,
): string | undefined {
  if (owner.type !== "Team") return "secrets are a team's, and the run is a person's own";
  if (isForeign) return "the environment is shared with the run's team, and its secrets are for its own runs";
  const parents = parent?.secrets?.filter(({ refused }) => refused === undefined).map((secret) => secret.name);
  if (parent !== undefined && parents?.includes(name) !== true) return "the run's parent does not have it";
  return undefined;
}
