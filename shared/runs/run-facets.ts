import type { RunBody } from "#shared/records/run-body.ts";
import type { RunFacets } from "#shared/records/run-head.ts";
import { toTags } from "./metadata-tags.ts";

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
    ...(tags === "" ? {} : { tags }),
  };
}
