import { keys, type Owner } from "./keys.ts";
import { ConditionFailed, type Delete, type Put, type Table, type Update } from "./table.ts";

const KEY_LENGTH = 200;

/** A name as it is compared: width, case and outer space make no difference. Its first 200 code points. */
const foldedName = (name: string): string =>
  [...name.normalize("NFKC").trim().toLowerCase()].slice(0, KEY_LENGTH).join("");

/** Two spellings of what counts as one name. */
const sameName = (one: string, other: string): boolean => foldedName(one) === foldedName(other);

/** Holds a name for one thing; the condition fails where another thing of the kind has it. */
export const claimName = (owner: Owner, kind: string, name: string, uid: string): Put => ({
  kind: "put",
  item: { ...keys.uniqueName(owner, kind, foldedName(name)), v: 1, uid },
  if: { pk: { exists: false } },
});

/** Lets a name go, if it is still the thing's. */
export const releaseName = (owner: Owner, kind: string, name: string, uid: string): Delete => ({
  kind: "delete",
  key: keys.uniqueName(owner, kind, foldedName(name)),
  if: { uid: { eq: uid } },
});

/** A thing with a unique name, as it was read. */
interface Named {
  readonly owner: Owner;
  readonly kind: string;
  readonly uid: string;
  readonly name: string;
}

/**
 * Changes a thing that may get another name by it, `name`; a new encoding of the same name needs no new claim. False where
 * somebody renamed or deleted it since it was read: what is there now decides. Throws `taken` where another has the name.
 */
export async function changeNamed(
  { owner, kind, uid, name: before }: Named,
  name: string,
  change: Pick<Update, "key" | "set" | "remove">,
  taken: () => Error,
  table: Table,
): Promise<boolean> {
  const update: Update = { kind: "update", ...change, set: { ...change.set, name }, if: { name: { eq: before } } };
  const claims = sameName(before, name)
    ? []
    : [claimName(owner, kind, name, uid), releaseName(owner, kind, before, uid)];
  try {
    await table.transact([update, ...claims]);
    return true;
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
    if (error.positions.includes(0)) return false;
    throw taken();
  }
}
