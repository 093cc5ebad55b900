import * as v from "valibot";
import { Repository, RepositoryUrl } from "./config.ts";
import { Count } from "./primitives.ts";
import { MAX_SKILLS, SKILL_BYTES } from "./skills/skill-file.ts";

/** A request to find the skills of a repository, which a sandbox receives instead of an envelope. */
export const ScanRequest = v.object({
  v: v.literal(1),
  kind: v.literal("scan"),
  url: RepositoryUrl,
  ref: Repository.entries.ref,
  /** Milliseconds after which the scan gives up. */
  time_limit_ms: v.pipe(Count, v.minValue(1_000), v.maxValue(60_000)),
});
export type ScanRequest = v.InferOutput<typeof ScanRequest>;

/** A SKILL.md file: its text, or why it cannot be read. */
export const SkillFile = v.object({
  path: v.pipe(v.string(), v.maxLength(1024)),
  /** The object id of the content in Git: equal ids mean equal text. */
  sha: v.pipe(v.string(), v.regex(/^[0-9a-f]{40,64}$/)),
  text: v.exactOptional(v.pipe(v.string(), v.maxLength(SKILL_BYTES))),
  problem: v.exactOptional(v.pipe(v.string(), v.maxLength(512))),
});
export type SkillFile = v.InferOutput<typeof SkillFile>;

/** The result of a scan. It comes from a sandbox, so it is trusted for that repository only. */
export const ScanResult = v.variant("outcome", [
  v.object({
    outcome: v.literal("found"),
    files: v.pipe(v.array(SkillFile), v.maxLength(MAX_SKILLS)),
    /** The number of skills beyond the limit. */
    left_out: Count,
  }),
  v.object({
    outcome: v.literal("failed"),
    /** `no_git`: the sandbox cannot read repositories. */
    reason: v.picklist(["no_git", "unreadable", "too_late"]),
    message: v.pipe(v.string(), v.maxLength(1024)),
  }),
]);
export type ScanResult = v.InferOutput<typeof ScanResult>;
