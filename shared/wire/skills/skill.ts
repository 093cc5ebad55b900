import * as v from "valibot";
import { PageInfo } from "../list.ts";

const UsedIn = v.array(
  v.object({
    /** The environment's id. */
    uid: v.string(),
    /** The environment's name. */
    name: v.string(),
  }),
);

/** A skill in one repository. */
export const AgentVariant = v.object({
  /** The skill's id, `{owner}/{repo}:{path}`. Pass it as `skill` or `skill_spec` of a run. */
  id: v.string(),
  /** The skill's description of itself. Empty if the skill is malformed. */
  description: v.string(),
  /** The instructions for the agent: the Markdown after the front matter. */
  base_prompt: v.string(),
  /** The location of the skill. */
  source: v.object({
    /** The repository's owner: the second-to-last segment of its URL. */
    owner: v.string(),
    /** The repository's name. */
    name: v.string(),
    /** The path of the skill's file in the repository. */
    skill_path: v.string(),
    /** The self-hosted worker that has the skill. */
    worker_host: v.exactOptional(v.string()),
  }),
  /** The caller's environments with this repository. */
  environments: UsedIn,
  /** The creation time of the latest run with the skill. Null before the first, absent if unknown. @format date-time */
  last_run_timestamp: v.exactOptional(v.nullable(v.string())),
  /** What is wrong with the file, with the line number. Absent for a valid skill. */
  error: v.exactOptional(v.string()),
});
export type AgentVariant = v.InferOutput<typeof AgentVariant>;

/** The skills with one name. */
export const AgentItem = v.object({
  /** The skill's name. */
  name: v.string(),
  /** The skills with this name, one per repository. */
  variants: v.array(AgentVariant),
});
export type AgentItem = v.InferOutput<typeof AgentItem>;

/** A repository whose skills could not be read completely. */
export const UnavailableRepository = v.object({
  /** The repository's owner: the second-to-last segment of its URL. */
  owner: v.string(),
  /** The repository's name. */
  name: v.string(),
  /** The caller's environments with this repository. */
  environments: UsedIn,
  /** Why the repository could not be read. */
  error: v.string(),
});
export type UnavailableRepository = v.InferOutput<typeof UnavailableRepository>;

/** A page of skills. */
export const ListAgentsResponse = v.object({
  /** The skills, grouped by name. */
  agents: v.array(AgentItem),
  /** The repositories that could not be read completely. Absent if there are none. */
  unavailable: v.exactOptional(v.array(UnavailableRepository)),
  /** The position of the page in the list. */
  page_info: v.exactOptional(PageInfo),
});
