import * as v from "valibot";
import { PageInfo } from "./list.ts";

const UsedIn = v.array(v.object({ uid: v.string(), name: v.string() }));

/** A skill in one repository. */
export const AgentVariant = v.object({
  /** `{owner}/{repo}:{path}`: what `skill` and `skill_spec` of a run take. */
  id: v.string(),
  /** Empty where the skill is malformed and has none. */
  description: v.string(),
  /** The Markdown behind the front matter. */
  base_prompt: v.string(),
  source: v.object({
    owner: v.string(),
    name: v.string(),
    skill_path: v.string(),
    worker_host: v.exactOptional(v.string()),
  }),
  /** Those of the caller's environments whose runs have the repository. */
  environments: UsedIn,
  /** When the latest run with this skill was made; null before the first, absent where that was not looked for far enough. */
  last_run_timestamp: v.exactOptional(v.nullable(v.string())),
  /** What is wrong with the file, and in which line. */
  error: v.exactOptional(v.string()),
});
export type AgentVariant = v.InferOutput<typeof AgentVariant>;

/** The skills of one name, in whichever repositories. */
export const AgentItem = v.object({ name: v.string(), variants: v.array(AgentVariant) });
export type AgentItem = v.InferOutput<typeof AgentItem>;

/** A repository whose skills could not be read, or not all of them. */
export const UnavailableRepository = v.object({
  owner: v.string(),
  name: v.string(),
  environments: UsedIn,
  /** Why, in a sentence. */
  error: v.string(),
});
export type UnavailableRepository = v.InferOutput<typeof UnavailableRepository>;

export const ListAgentsResponse = v.object({
  agents: v.array(AgentItem),
  /** Repositories that could not be read; absent where all were. */
  unavailable: v.exactOptional(v.array(UnavailableRepository)),
  page_info: v.exactOptional(PageInfo),
});
