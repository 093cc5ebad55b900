import * as v from "valibot";
import { Repository, RepositoryUrl } from "./config.ts";
import { Count } from "./primitives.ts";
import { MAX_SKILLS, SKILL_BYTES } from "./skill-file.ts";

/** What a sandbox is sent to look for the skills of a repository, instead of an envelope. */
export const ScanRequest = v.object({
  v: v.literal(1),
  kind: v.literal("scan"),
  url: RepositoryUrl,
  ref: Repository.entries.ref,
  /** Milliseconds after which the scan gives up. */
  time_limit_ms: v.pipe(Count, v.minValue(1_000), v.maxValue(60_000)),
});
export type ScanRequest = v.InferOutput<typeof ScanRequest>;

/** A SKILL.md as it was found: its text, or why there is none. */
export const SkillFile = v.object({
  path: v.pipe(v.string(), v.maxLength(1024)),
  /** Git's name of the content; the same name is the same text. */
  sha: v.pipe(v.string(), v.regex(/^[0-9a-f]{40,64}$/)),
  text: v.exactOptional(v.pipe(v.string(), v.maxLength(SKILL_BYTES))),
  problem: v.exactOptional(v.pipe(v.string(), v.maxLength(512))),
});
export type SkillFile = v.InferOutput<typeof SkillFile>;

/** What a scan answers. It comes from a sandbox, so whoever reads it trusts it for that repository alone. */
export const ScanAnswer = v.variant("outcome", [
  v.object({
    outcome: v.literal("found"),
    files: v.pipe(v.array(SkillFile), v.maxLength(MAX_SKILLS)),
    /** Skills beyond the most that are looked for. */
    left_out: Count,
  }),
  v.object({
    outcome: v.literal("failed"),
    /** `no_git`: the sandbox cannot look at repositories at all. */
    reason: v.picklist(["no_git", "unreadable", "too_late"]),
    message: v.pipe(v.string(), v.maxLength(1024)),
  }),
]);
export type ScanAnswer = v.InferOutput<typeof ScanAnswer>;
