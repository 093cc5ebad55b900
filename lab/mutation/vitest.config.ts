import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { testsFromEnvironment } from "./suites.ts";

/** Stryker stops at the first failed test, so files that failed for the last mutant come first, then the fastest ones. */
class LikelyFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = (file: TestSpecification) => {
      const last = this.ctx.cache.getTestSpecificationResult(file);
      return last === undefined ? Number.MAX_VALUE : last.duration - (last.failed ? 1_000_000 : 0);
    };
    return [...files].sort((one, other) => rank(one) - rank(other));
  }
}

/** One project with the tests of the mutated folder. Its results are cached in the copy that Stryker works in. */
export default defineConfig({
  cacheDir: ".mutation-cache",
  test: {
    root: process.cwd(),
    ...testsFromEnvironment(),
    setupFiles: ["lab/mutation/setup.ts"],
    environment: "node",
    sequence: { sequencer: LikelyFirst },
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 5_000 } },
  },
});
