import { relative } from "node:path";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { testsFromEnvironment } from "./tests.ts";

const { files, reach, isolate } = testsFromEnvironment();

/** In the order in which the files are named: those most likely to notice first. */
class AsNamed extends BaseSequencer {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => files.indexOf(relative(this.ctx.config.root, moduleId));
    return [...specifications].sort((one, other) => place(one) - place(other));
  }
}

export default defineConfig({
  cacheDir: ".planted-cache",
  test: {
    root: process.cwd(),
    include: [...files],
    setupFiles: reach ? ["lab/planted/setup.ts"] : [],
    sequence: { sequencer: AsNamed },
    environment: "node",
    pool: "forks",
    isolate,
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 30_000 } },
  },
});
