import { keys, type Owner } from "./keys.ts";
import type { Delete, Put, Table, Update } from "./table.ts";
import { ConflictError, transact } from "./transact.ts";

const KEY_LENGTH = 200;

/** Folds a name for comparison: width, case and surrounding space make no difference. Keeps the first 200 code points. */
const foldName = (name: string): string =>
  [...name.normalize("NFKC").trim().toLowerCase()].slice(0, KEY_LENGTH).join("");

/** True if both texts count as one name. */
const isSameName = (one: string, other: string): boolean => foldName(one) === foldName(other);

/** Claims a name for one resource. The condition fails if another resource of the kind has it. */
export const claimName = (owner: Owner, kind: string, name: string, uid: string): Put => ({
  kind: "put",
  item: { ...keys.uniqueName(owner, kind, foldName(name)), v: 1, uid },
  if: { pk: { exists: false } },
});

/** Releases a name if it still belongs to the resource. */
export const releaseName = (owner: Owner, kind: string, name: string, uid: string): Delete => ({
  kind: "delete",
  key: keys.uniqueName(owner, kind, foldName(name)),
  if: { uid: { eq: uid } },
});

/** A resource with a unique name, as it was read. */
interface Named {
  readonly owner: Owner;
  readonly kind: string;
  readonly uid: string;
  readonly name: string;
}

/**
 * Changes a resource, which may rename it to `name`; another form of the same name needs no new claim.
 * @throws ConflictError if the resource was renamed or deleted after it was read. The error that `taken` creates if another resource
 *   has the name
 */
export async function changeNamed(
  { owner, kind, uid, name: before }: Named,
  name: string,
  change: Pick<Update, "key" | "set" | "remove">,
  taken: () => Error,
  table: Table,
): Promise<void> {
  const update: Update = { kind: "update", ...change, set: { ...change.set, name }, if: { name: { eq: before } } };
  const names = isSameName(before, name)
    ? {}
    : { claimed: claimName(owner, kind, name, uid), released: releaseName(owner, kind, before, uid) };
  try {
    await transact(table, { resource: update, ...names });
  } catch (error) {
    throw error instanceof ConflictError && !error.failed.has("resource") ? taken() : error;
  }
}
