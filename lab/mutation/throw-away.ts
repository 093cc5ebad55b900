/** Mutants of this code may kill any process of this machine or change its files, so they need a copy of it (`throw-away.sh`). */
const DANGEROUS = ["harness/isolation", "harness/commands", "shared/sandbox"];

const isInCopy = (): boolean => process.env["RUNYARD_THROW_AWAY"] === "1";

/** Why mutants of a file, a folder or a pattern of Stryker may not run here; undefined if they may. */
export function findDanger(path: string): string | undefined {
  const folder = DANGEROUS.find((one) => path === one || path.startsWith(`${one}/`));
  if (folder === undefined || isInCopy()) return undefined;
  return `mutants of ${folder} may harm this machine: sudo bash lab/mutation/throw-away.sh npm run lab -- mutate ${folder}`;
}

/** The patterns of files and lines that may run here. Prints those that may not. */
export function leaveOutDanger(patterns: readonly string[]): readonly string[] {
  for (const reason of new Set(patterns.map(findDanger))) if (reason !== undefined) console.log(`Left out: ${reason}`);
  return patterns.filter((pattern) => findDanger(pattern) === undefined);
}

/** Stryker's patterns of what may not run here, for folders that contain it. */
export const listExcluded = (): readonly string[] =>
  isInCopy() ? [] : DANGEROUS.map((folder) => `!${folder}/**/*.ts`);
