import * as v from "valibot";

/** A skill as it was discovered in a repository. */
export const Skill = v.object({
  /** From the root of the repository, for example `.agents/skills/review/SKILL.md`. */
  path: v.string(),
  /** Git's hash of the content; empty where it was not read. */
  sha: v.string(),
  name: v.string(),
  /** Empty where the skill is malformed and has none. */
  description: v.string(),
  base_prompt: v.string(),
  /** What is wrong with it; malformed skills are listed on request only. */
  error: v.exactOptional(v.string()),
});
export type Skill = v.InferOutput<typeof Skill>;
