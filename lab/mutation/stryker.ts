/** Runs StrykerJS on a copy of the repository, in a process group of its own that ends with this process or when its time is up. */
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { root } from "../../scripts/run-command.ts";
import { RESULTS_VARIABLE, type Result, readResults } from "./results.ts";
import { testsToEnvironment } from "./suites.ts";
import { listExcluded } from "./throw-away.ts";

/** Our plug-ins of StrykerJS, from the root of the repository. */
export const PLUGINS = "./lab/mutation/plugins.ts";

export interface MutationRun {
  /** Names the incremental report. */
  readonly name: string;
  /** Stryker's patterns: globs, or files with `:first-last` lines. */
  readonly mutate: readonly string[];
  readonly suite: readonly string[];
  readonly concurrency: number;
  /** Ends after so many seconds with what was found out by then. */
  readonly seconds?: number | undefined;
  /** A mutant counts as caught if its tests take so much longer than four times as long as without it. */
  readonly graceSeconds: number;
  /** Finds every test that fails for a mutant instead of the first one. Default: false. */
  readonly allKillers?: boolean;
  /** Takes nothing over from the last run. Default: false. */
  readonly force?: boolean;
}

export interface MutationOutcome {
  readonly results: readonly Result[];
  readonly ended: "done" | "time is up" | "failed";
}

const WORK = ".runyard/mutation";
/** What is copied is only what tests can read. */
const NOT_COPIED = ["/dist", "/.runyard", "/image/node_modules", "/cdk.out", "/action/dist"];

export async function runStryker(run: MutationRun): Promise<MutationOutcome> {
  const file = join(root, WORK, `${run.name}.jsonl`);
  const config = join(root, WORK, `${run.name}.config.json`);
  // Not a process id: in a copy of the machine (throw-away.sh) it is not unique.
  const copies = `${WORK}/copies-${randomUUID()}`;
  mkdirSync(join(root, WORK), { recursive: true });
  rmSync(file, { force: true });
  forgetStaticSurvivors(join(root, WORK, `${run.name}.json`));
  writeFileSync(config, JSON.stringify(toOptions(run, copies)));
  const child = spawn(
    process.execPath,
    [join(root, "node_modules/@stryker-mutator/core/bin/stryker.js"), "run", config],
    {
      cwd: root,
      stdio: ["ignore", "inherit", "inherit"],
      detached: true,
      env: { ...process.env, ...testsToEnvironment(run.suite), [RESULTS_VARIABLE]: file },
    },
  );
  const end = () => endGroup(child.pid);
  let isInterrupted = false;
  const interrupt = () => {
    isInterrupted = true;
    end();
  };
  for (const signal of SIGNALS) process.on(signal, interrupt);
  let late = false;
  const timer = setTimeout(
    () => {
      late = true;
      end();
    },
    (run.seconds ?? MAX_SECONDS) * 1000,
  );
  try {
    const [exitCode] = await once(child, "exit");
    return { results: readResults(file), ended: late ? "time is up" : exitCode === 0 ? "done" : "failed" };
  } finally {
    clearTimeout(timer);
    end();
    for (const signal of SIGNALS) process.off(signal, interrupt);
    rmSync(join(root, copies), { recursive: true, force: true });
    if (isInterrupted) process.exit(INTERRUPTED);
  }
}

const MAX_SECONDS = 86_400;
const SIGNALS = ["SIGINT", "SIGTERM"] as const;
/** What a shell reports of a program that was interrupted. */
const INTERRUPTED = 130;

const Report = v.looseObject({
  files: v.record(
    v.string(),
    v.looseObject({ mutants: v.array(v.looseObject({ status: v.string(), static: v.optional(v.boolean()) })) }),
  ),
});

/** Stryker does not know which tests run what is run while a file is loaded, so it would not try these again with new tests. */
function forgetStaticSurvivors(incrementalReport: string): void {
  if (!existsSync(incrementalReport)) return;
  const report = v.parse(Report, JSON.parse(readFileSync(incrementalReport, "utf8")));
  for (const file of Object.values(report.files)) {
    file.mutants = file.mutants.filter((mutant) => mutant.static !== true || mutant.status !== "Survived");
  }
  writeFileSync(incrementalReport, JSON.stringify(report));
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // All of its processes have ended.
  }
}

function toOptions(run: MutationRun, copies: string) {
  const { name, mutate, concurrency, graceSeconds, allKillers = false, force = false } = run;
  return {
    mutate: [...mutate, "!**/generated/**", ...listExcluded()],
    testRunner: "vitest",
    // Tests reach endpoints by imports that only running them shows, so Vitest cannot find out which tests are related.
    vitest: { configFile: "lab/mutation/vitest.config.ts", pool: "forks", related: false },
    plugins: ["@stryker-mutator/vitest-runner", PLUGINS],
    ignorers: ["texts"],
    reporters: ["results", "progress-append-only"],
    coverageAnalysis: "perTest",
    incremental: true,
    incrementalFile: `${WORK}/${name}.json`,
    force,
    disableBail: allKillers,
    concurrency,
    tempDirName: copies,
    cleanTempDir: "always",
    ignorePatterns: NOT_COPIED,
    // Stryker would rewrite it by means of an interface that TypeScript 7 does not have. Vitest reads none.
    tsconfigFile: "none.json",
    // Endless loops are recognized by the number of their rounds.
    timeoutMS: graceSeconds * 1000,
    timeoutFactor: 4,
    dryRunTimeoutMinutes: 60,
    allowEmpty: true,
    logLevel: "error",
  };
}
