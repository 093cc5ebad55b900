import { createHash } from "node:crypto";

/** Characters of a tag: 24 bits, of which one in sixteen million is the same by chance. */
const LENGTH = 4;

const toTag = (key: string, value: string): string =>
  createHash("sha256")
    .update(JSON.stringify([key, value]))
    .digest("base64url")
    .slice(0, LENGTH);

/**
 * Makes a tag for each pair of a run's metadata, and joins them. Index entries carry them, so that nothing but the entry is read
 * of runs with other metadata; the metadata of a run with the right tags is then compared.
 */
export const toTags = (metadata: Readonly<Record<string, string>>): string =>
  Object.entries(metadata)
    .map(([key, value]) => toTag(key, value))
    .join("");

/** False where a run with these tags cannot have the metadata. */
export function hasTags(tags: unknown, wanted: Readonly<Record<string, string>> | undefined): boolean {
  if (wanted === undefined) return true;
  const given = new Set(typeof tags === "string" ? (tags.match(/.{4}/g) ?? []) : []);
  return Object.entries(wanted).every(([key, value]) => given.has(toTag(key, value)));
}
