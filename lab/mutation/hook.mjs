/** Loaded by every Node process that a test with mutants starts. Stryker's variables switch its mutant on. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import "./keep-alive.mjs";
import "./pass-on.mjs";

const {
  RUNYARD_MUTATION_COVERAGE: folder,
  RUNYARD_MUTATION_TEST: test,
  RUNYARD_MUTATION_HIT_LIMIT: limit,
} = process.env;
globalThis.__stryker__ ??= {};
const stryker = globalThis.__stryker__;
if (test !== undefined) stryker.currentTestId = test;
if (limit !== undefined) {
  stryker.hitCount = 0;
  stryker.hitLimit = Number(limit);
}

process.on("exit", () => {
  if (stryker.mutantCoverage === undefined || folder === undefined) return;
  try {
    writeFileSync(join(folder, `${process.pid}-${Date.now()}.json`), JSON.stringify(stryker.mutantCoverage));
  } catch {
    // The test file has ended, so nobody reads it.
  }
});
