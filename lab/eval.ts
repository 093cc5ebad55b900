import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Runyard } from "../clients/typescript/src/index.ts";
import { UsageError } from "../server/command/usage.ts";
import { projectRoot } from "../server/host/paths.ts";
import { complain, green, Problem, red, say } from "../server/host/terminal.ts";
import { startServer } from "./bench/single/server.ts";
import { withDirectory } from "./bench/temporary-directory.ts";
import { executeTask } from "./eval/execution.ts";
import { compareWithScript, testChecker } from "./eval/mechanics.ts";
import { chooseAccess, type EvalOptions, HELP, type ModelAccess, parseOptions } from "./eval/options.ts";
import { executeWithMiniSweAgent, findMiniSweAgent, type OtherAgent } from "./eval/other-agent.ts";
import { type Attempt, formatReport, type Report } from "./eval/report.ts";
import { check, findMissing, makeRepository } from "./eval/repository.ts";
import { startScriptedModel } from "./eval/scripted-model.ts";
import { readTasks, type Task } from "./eval/tasks.ts";

async function main(args: readonly string[]): Promise<number> {
  const options = parseOptions(args);
  if (options.help) {
    console.log(HELP);
    return 0;
  }
  const tasks = readTasks(options.tasks);
  if (options.list) {
    for (const { name, language, kind } of tasks) say(`${name.padEnd(28)} ${language.padEnd(11)} ${kind}`);
    return 0;
  }
  const { model, beside } = options;
  const access = model === undefined ? undefined : chooseAccess({ ...options, model }, process.env);
  const other =
    beside === undefined || access === undefined
      ? undefined
      : { program: await findMiniSweAgent(process.env["PATH"] ?? ""), ...access.litellm };
  const missing = await Promise.all(tasks.map(async (task) => ({ task, programs: await findMissing(task) })));
  const omitted = missing.flatMap(({ task, programs }) =>
    programs.length === 0 ? [] : [{ task: task.name, why: `this machine has no ${programs.join(", ")}` }],
  );
  const chosen = missing.flatMap(({ task, programs }) => (programs.length === 0 ? [task] : []));
  if (chosen.length === 0)
    throw new Problem(
      "No task can be executed on this machine.",
      omitted.map(({ task, why }) => `${task}: ${why}`),
    );
  const out = resolve(options.out ?? join(projectRoot, ".runyard/eval", new Date().toISOString().replaceAll(":", "-")));
  mkdirSync(out, { recursive: true });
  if (readdirSync(out).length > 0) throw new Problem(`--out names ${out}, which is not empty. Name another directory.`);
  // Before the executions: the checkout may change while they last.
  const commit = readCommit();
  const attempts = await withDirectory("runyard-eval-", (scratch) =>
    evaluate({ options, access, other, tasks: chosen, out }, scratch),
  );
  const report: Report = {
    ...{ date: new Date().toISOString().slice(0, 10), commit, model: model ?? "scripted" },
    tasks: chosen.map(({ name, language, kind }) => ({ name, language, kind })),
    ...{ attempts, omitted },
  };
  writeFileSync(join(out, "results.json"), `${JSON.stringify(report, null, 2)}\n`);
  writeFileSync(join(out, "results.md"), formatReport(report));
  const failed = attempts.filter(({ failures }) => failures.length > 0);
  say(
    `${attempts.length - failed.length} of ${attempts.length} executions passed; ${omitted.length} tasks left out. ${join(out, "results.md")}`,
  );
  return failed.length === 0 ? 0 : 1;
}

interface Evaluation {
  readonly options: EvalOptions;
  /** Undefined for the scripted model. */
  readonly access: ModelAccess | undefined;
  readonly other: OtherAgent | undefined;
  readonly tasks: readonly Task[];
  readonly out: string;
}

/** Executes every task as often as requested, some at a time. */
async function evaluate(evaluation: Evaluation, scratch: string): Promise<Attempt[]> {
  const { options, access, tasks } = evaluation;
  await using scripted = await startScriptedModel(tasks);
  const settings = access?.settings ?? {
    RUNYARD_COMPATIBLE_BASE_URL: scripted.url,
    RUNYARD_COMPATIBLE_MODELS: tasks.map(({ name }) => name).join(","),
  };
  const data = join(scratch, "data");
  // The keys of this process reach the service by its settings alone.
  const { api, stop } = await startServer(data, { PATH: process.env["PATH"], HOME: data, ...settings });
  try {
    const client = new Runyard({ apiKey: api.key, baseURL: api.baseUrl });
    const repositories = new Map(tasks.map((task) => [task.name, makeRepository(task, join(scratch, "repositories"))]));
    const repeats = Array.from({ length: options.repeats }, (_, index) => index + 1);
    const waiting = tasks.flatMap((task) => repeats.map((repeat) => ({ task, repeat })));
    const attempts: Attempt[] = [];
    const work = async () => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const repository = repositories.get(next.task.name) ?? "";
        for (const attempt of await attemptTask({ ...evaluation, ...next, client, repository })) {
          attempts.push(attempt);
          show(attempt);
        }
      }
    };
    await Promise.all(Array.from({ length: options.concurrency }, work));
    return attempts.toSorted((a, b) => a.task.localeCompare(b.task) || a.repeat - b.repeat);
  } finally {
    await stop();
  }
}

interface OneAttempt extends Omit<Evaluation, "tasks"> {
  readonly task: Task;
  readonly repeat: number;
  readonly client: Runyard;
  readonly repository: string;
}

async function attemptTask(one: OneAttempt): Promise<Attempt[]> {
  const { task, repeat, other, out, options } = one;
  const attempt = async (agent: string, work: (folder: string) => Promise<Attempt>): Promise<Attempt> => {
    try {
      return await work(join(out, agent, `${task.name}-${repeat}`));
    } catch (error) {
      // One execution that cannot be finished must not lose the others, which may have cost money.
      const failures = [error instanceof Error ? error.message : String(error)];
      const unknown = { seconds: 0, tokens: undefined, costUsd: undefined };
      return { task: task.name, agent, repeat, passed: false, end: "error", failures, ...unknown };
    }
  };
  const own = await attempt("runyard", (folder) => attemptWithRunyard(one, folder));
  if (other === undefined) return [own];
  const agent = "mini-swe-agent";
  const others = await attempt(agent, async (folder) => {
    const { patch, ...execution } = await executeWithMiniSweAgent(other, { ...options, task, folder });
    return await judge(task, patch, { ...execution, agent, repeat, failures: [] });
  });
  return [own, others];
}

async function attemptWithRunyard(one: OneAttempt, folder: string): Promise<Attempt> {
  const { task, repeat, access, options, client, repository } = one;
  const model = options.model ?? `compatible/${task.name}`;
  const failures = access === undefined ? await testChecker(task) : [];
  const execution = await executeTask({ ...options, client, task, model, repository, folder });
  if (access === undefined) failures.push(...compareWithScript(task, execution));
  const { total_tokens, inference_cost } = execution.run.request_usage ?? {};
  return await judge(task, execution.patch, {
    ...{ agent: "runyard", repeat, failures, end: execution.run.state, seconds: execution.seconds },
    // Without a price, the service counts 0.
    ...{ tokens: total_tokens, costUsd: options.prices === undefined ? inference_cost || undefined : inference_cost },
  });
}

/** Adds the verdict of the checker. */
async function judge(task: Task, patch: string, attempt: Omit<Attempt, "task" | "passed">): Promise<Attempt> {
  const { passed, output } = await check(task, { patch });
  const refusal = passed ? [] : [`the checker refuses the result: ${output.slice(-600)}`];
  return { ...attempt, task: task.name, passed, failures: [...attempt.failures, ...refusal] };
}

function show({ task, agent, repeat, failures, seconds }: Attempt): void {
  say(`${failures.length === 0 ? green("✓") : red("✗")} ${task} (${agent}, ${repeat}) ${seconds.toFixed(1)} s`);
  for (const failure of failures) say(`    ${failure}`);
}

const readCommit = (): string =>
  execFileSync("git", ["rev-parse", "--short=12", "HEAD"], { cwd: projectRoot, encoding: "utf8" }).trim();

if (import.meta.main)
  try {
    process.exitCode = await main(process.argv.slice(2));
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    complain(red(error.message));
    if (error instanceof Problem) for (const detail of error.details) complain(`  ${detail}`);
    if (error instanceof UsageError) complain("\nnpm run lab -- eval --help says more.");
    process.exitCode = 2;
  }
