import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { projectRoot } from "../server/host/paths.ts";
import { seededRandom } from "../shared/random.ts";
import { plantCanary } from "./attack/canary.ts";
import { Disk } from "./attack/host.ts";
import { addOutcome, createReport, type Report } from "./attack/report.ts";
import { planRound, runRound, type Stage } from "./attack/round.ts";

const HELP = `Usage: npm run lab -- attack [options]

Runs executions whose commands attack their sandbox at random: they rename, exchange and link files while the harness works on them, make
trees that are deeper than any path, pass descriptors on, map files, stop processes and exceed every limit. Half of the harnesses run as
root and half as another user. After each execution it checks that no file of the host was read or touched, that neither a file nor a
process is left, and that no limit was exceeded by more than a tenth for more than a second. Needs root, bubblewrap, python3, and cgroups
of version 1 for processes and memory, by which it measures what processes hide.

  --seed N     seed that determines the attacks (default: random, printed)
  --minutes N  for how long executions start (default 20)
  --json FILE  write the report there too, after each execution
  --help       show this text

The exit code is 1 if a guarantee was broken.`;

/** The user of the harnesses that are not root's, and of the files that they could change. */
const OTHER_USER = 65_534;

async function main(args: string[]): Promise<number> {
  const text = { type: "string" } as const;
  const { values } = parseArgs({
    args,
    options: { seed: text, minutes: text, json: text, help: { type: "boolean", default: false } },
  });
  if (values.help) {
    console.log(HELP);
    return 0;
  }
  const seed = Number(values.seed ?? Math.floor(Math.random() * 1_000_000));
  const minutes = Number(values.minutes ?? 20);
  if (!Number.isInteger(seed) || !(minutes > 0) || process.getuid?.() !== 0) {
    console.error("--seed takes a whole number, --minutes a number above 0, and the attack needs root.");
    return 2;
  }
  const report = await campaign(seed, minutes, (current) => {
    if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(current, null, 2)}\n`);
  });
  console.log(JSON.stringify(report, null, 2));
  return report.violations.length === 0 ? 0 : 1;
}

async function campaign(seed: number, minutes: number, onChange: (report: Report) => void): Promise<Report> {
  const folder = mkdtempSync(path.join(tmpdir(), "attack-"));
  chmodSync(folder, 0o755);
  const random = seededRandom(seed);
  const commit = execFileSync("git", ["rev-parse", "--short", "HEAD"], { cwd: projectRoot, encoding: "utf8" }).trim();
  let report = createReport(seed, commit);
  let snapshot: Buffer | undefined;
  using disk = new Disk(folder, OTHER_USER);
  const stage = prepareStage(folder, disk);
  try {
    for (let number = 1; Date.now() - report.startedAt < minutes * 60_000; number++) {
      const outcome = await runRound(planRound(number, random, snapshot), stage, seededRandom(seed * 10_007 + number));
      snapshot = outcome.checkpoint ?? snapshot;
      report = addOutcome(report, outcome);
      const { end, user, violations, summary, durationMs } = outcome;
      console.error(`${number} ${end} uid ${user} ${Math.round(durationMs / 100) / 10} s: ${summary.slice(0, 200)}`);
      for (const violation of violations) console.error(`  VIOLATION ${violation}`);
      onChange(report);
    }
  } finally {
    rmSync(path.join(folder, "canary"), { recursive: true });
    rmSync(path.join(folder, "victim"), { recursive: true });
  }
  return report;
}

function prepareStage(folder: string, disk: Disk): Stage {
  const canary = path.join(folder, "canary");
  const word = `canary-${randomUUID()}`;
  plantCanary(canary, word, OTHER_USER);
  const repository = path.join(folder, "victim");
  mkdirSync(repository);
  writeFileSync(path.join(repository, "left.txt"), "left\n");
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=Lab", "-c", "user.email=lab@example.com", ...args], { cwd: repository });
  git("init", "--quiet", "--initial-branch=main");
  git("add", "--all");
  git("commit", "--quiet", "--message=first");
  return { disk, canary, word, repository: `file://${repository}` };
}

if (import.meta.main) process.exitCode = await main(process.argv.slice(2));
