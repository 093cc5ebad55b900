import { keys, type Owner } from "./keys.ts";
import type { Delete, Put } from "./table.ts";

const KEY_LENGTH = 200;

/** A name as it is compared: width, case and outer space make no difference. Its first 200 code points. */
const foldedName = (name: string): string =>
  [...name.normalize("NFKC").trim().toLowerCase()].slice(0, KEY_LENGTH).join("");

/** Two spellings of what counts as one name. */
export const sameName = (one: string, other: string): boolean => foldedName(one) === foldedName(other);

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
