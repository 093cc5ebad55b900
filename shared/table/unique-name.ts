import { keys, type Owner } from "./keys.ts";
import type { Delete, Put, Table, Update } from "./table.ts";
import { ConflictError, transact } from "./transact.ts";

const KEY_LENGTH = 200;

/** The first 200 code points of a name in the form that is compared: width, case and outer white space make no difference. */
const foldName = (name: string): string =>
  [...name.normalize("NFKC").trim().toLowerCase()].slice(0, KEY_LENGTH).join("");

/** True for two spellings of one name. */
const isSameName = (one: string, other: string): boolean => foldName(one) === foldName(other);

/** Claims a name for an object; the condition fails where another object of the kind has it. */
export const claimName = (owner: Owner, kind: string, name: string, uid: string): Put => ({
  kind: "put",
  item: { ...keys.uniqueName(owner, kind, foldName(name)), v: 1, uid },
  if: { pk: { exists: false } },
});

/** Releases a name, if it still belongs to the object. */
export const releaseName = (owner: Owner, kind: string, name: string, uid: string): Delete => ({
  kind: "delete",
  key: keys.uniqueName(owner, kind, foldName(name)),
  if: { uid: { eq: uid } },
});

/** An object with a unique name, as it was read. */
interface Named {
  readonly owner: Owner;
  readonly kind: string;
  readonly uid: string;
  readonly name: string;
}

/**
 * Changes an object and its name; another spelling of the same name needs no new claim. Returns false where the object was
 * renamed or deleted since it was read, so that the caller reads it again. Throws `taken` where another object has the name.
 */
export async function changeNamed(
  { owner, kind, uid, name: before }: Named,
  name: string,
  change: Pick<Update, "key" | "set" | "remove">,
  taken: () => Error,
  table: Table,
): Promise<boolean> {
  const update: Update = { kind: "update", ...change, set: { ...change.set, name }, if: { name: { eq: before } } };
  const claims = isSameName(before, name)
    ? []
    : [claimName(owner, kind, name, uid), releaseName(owner, kind, before, uid)];
  try {
    await transact(table, { update, name: claims });
    return true;
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error;
    if (error.failed.has("update")) return false;
    throw taken();
  }
}
