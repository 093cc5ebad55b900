import { createHash } from "node:crypto";
import type { RunBody } from "#shared/records/run-body.ts";
import type { RunFacets } from "#shared/records/run-head.ts";

/** What the list filters read of a run, copied into each of its index entries. */
export function toFacets({ config, creator, executor, source, execution_location, ...body }: RunBody): RunFacets {
  const tags = toTags(body.metadata ?? {});
  return {
    ...(config.name === undefined ? {} : { name: config.name }),
    ...(config.model_id === undefined ? {} : { model: config.model_id }),
    creator: creator.uid,
    ...(executor.uid === creator.uid ? {} : { executor: executor.uid }),
    ...(executor.type === "service_account" ? { as_identity: true as const } : {}),
    source,
    location: execution_location,
    ...(config.environment_id === undefined ? {} : { environment: config.environment_id }),
    ...(config.skill_spec === undefined ? {} : { skill: config.skill_spec }),
    ...(body.schedule === undefined ? {} : { schedule: body.schedule.schedule_id }),
    ...(body.trigger === undefined ? {} : { trigger: body.trigger.trigger_id }),
    ...(tags === "" ? {} : { tags }),
  };
}

/** Characters of a tag: 24 bits, of which one in sixteen million is the same by chance. */
const LENGTH = 4;

const toTag = (key: string, value: string): string =>
  createHash("sha256")
    .update(JSON.stringify([key, value]))
    .digest("base64url")
    .slice(0, LENGTH);

/** Makes a tag for each pair of metadata. */
export const listTags = (metadata: Readonly<Record<string, string>>): readonly string[] =>
  Object.entries(metadata).map(([key, value]) => toTag(key, value));

/**
 * Makes a tag for each pair of a run's metadata, and joins them. Index entries carry them, so that nothing but the entry is read
 * of runs with other metadata; the metadata of a run with the right tags is then compared.
 */
const toTags = (metadata: Readonly<Record<string, string>>): string => listTags(metadata).join("");

/** Splits joined tags. */
export const splitTags = (tags: unknown): readonly string[] =>
  typeof tags === "string" ? (tags.match(/.{4}/g) ?? []) : [];

/** False where a run with these tags cannot have the metadata. */
export function hasTags(tags: unknown, wanted: Readonly<Record<string, string>> | undefined): boolean {
  if (wanted === undefined) return true;
  const tagSet = new Set(splitTags(tags));
  return listTags(wanted).every((tag) => tagSet.has(tag));
}
