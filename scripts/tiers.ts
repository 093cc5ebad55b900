/**
 * The two tiers of the tests. `npm test` runs the first: deterministic, and with nothing downloaded but the packages of npm.
 * `npm run test:full` runs the second: the slow rest, and what needs downloads.
 */
import { matchesGlob } from "node:path";
import * as v from "valibot";

export const Tier = v.picklist(["first", "full"]);
export type Tier = v.InferOutput<typeof Tier>;

/** The folders of test/ that are in the second tier as a whole. */
const FULL_FOLDERS = ["agents", "contract", "emulator", "escape"];

/** Single files of the second tier, in the other folders. */
const FULL_FILES = "test/**/*.full.test.ts";

/** Names the tier that vitest is to run; without it, vitest runs both. */
export const TIER_VARIABLE = "RUNYARD_TIER";

export function tierOf(file: string): Tier {
  return FULL_FOLDERS.some((folder) => file.startsWith(`test/${folder}/`)) || matchesGlob(file, FULL_FILES)
    ? "full"
    : "first";
}

/** Vitest's patterns of the test files in a folder of test/: those of one tier, or of both. */
export function selectTestFiles(folder: string, tier: Tier | undefined): { include: string[]; exclude: string[] } {
  const all = `test/${folder}/**/*.test.ts`;
  if (tier === undefined) return { include: [all], exclude: [] };
  if (FULL_FOLDERS.includes(folder)) return { include: tier === "full" ? [all] : [], exclude: [] };
  return tier === "full"
    ? { include: [`test/${folder}/**/*.full.test.ts`], exclude: [] }
    : { include: [all], exclude: [FULL_FILES] };
}
