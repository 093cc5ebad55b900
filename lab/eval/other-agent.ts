import { existsSync, readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as v from "valibot";
import { findProgram, runCommand } from "../../server/host/commands.ts";
import { Problem } from "../../server/host/terminal.ts";
import { makeRepository } from "./repository.ts";
import type { Task } from "./tasks.ts";

/** The agents that can execute the tasks beside Runyard's. */
export const OTHER_AGENTS = ["mini-swe-agent"] as const;

export interface OtherAgent {
  /** The path of its program. */
  readonly program: string;
  /** The model as LiteLLM names it, and the variables with which it finds the provider. */
  readonly model: string;
  readonly variables: Readonly<Record<string, string>>;
}

export interface OtherExecution {
  readonly end: string;
  readonly patch: string;
  readonly seconds: number;
  readonly tokens: number | undefined;
  readonly costUsd: number | undefined;
}

/** Finds mini-swe-agent. @throws Problem that says how to install it */
export async function findMiniSweAgent(searchPath: string): Promise<string> {
  const program = await findProgram("mini", searchPath);
  if (program !== undefined) return program;
  throw new Problem("mini-swe-agent is not installed: no program mini is on the PATH.", [
    "python3 -m venv .venv && .venv/bin/pip install mini-swe-agent && PATH=$PWD/.venv/bin:$PATH npm run lab -- eval …",
  ]);
}

/** Executes a task with mini-swe-agent, whose commands run without isolation, as it does by default. */
export async function executeWithMiniSweAgent(
  { program, model, variables }: OtherAgent,
  { task, folder, maxSteps, timeoutMinutes }: { task: Task; folder: string; maxSteps: number; timeoutMinutes: number },
): Promise<OtherExecution> {
  await mkdir(folder, { recursive: true });
  const repository = makeRepository(task, folder);
  const trajectory = join(folder, "trajectory.json");
  const limits = ["-c", "mini.yaml", "-c", `agent.step_limit=${maxSteps}`, "-c", "agent.cost_limit=0"];
  const args = [...limits, "--yolo", "--exit-immediately", "-m", model, "-t", task.prompt, "-o", trajectory];
  const began = performance.now();
  const { code, output } = await runCommand(program, args, {
    cwd: repository,
    env: {
      PATH: process.env["PATH"],
      HOME: folder,
      MSWEA_CONFIGURED: "true",
      MSWEA_SILENT_STARTUP: "true",
      // A model without a known price is not an error here.
      MSWEA_COST_TRACKING: "ignore_errors",
      ...variables,
    },
    timeoutSeconds: timeoutMinutes * 60,
  });
  const seconds = (performance.now() - began) / 1000;
  await writeFile(join(folder, "output.txt"), output);
  await runCommand("git", ["-C", repository, "add", "--all", "--intent-to-add"]);
  // Against the first commit, since an agent may commit.
  const first = (await runCommand("git", ["-C", repository, "rev-list", "--max-parents=0", "HEAD"])).output.trim();
  const patch = (await runCommand("git", ["-C", repository, "diff", "--binary", first])).output;
  await writeFile(join(folder, "changes.diff"), patch);
  return { end: `exit ${code}`, patch, seconds, ...readUsage(trajectory) };
}

const Usage = v.looseObject({ total_tokens: v.optional(v.number(), 0) });
const Trajectory = v.looseObject({
  info: v.looseObject({ model_stats: v.optional(v.looseObject({ instance_cost: v.optional(v.number()) })) }),
  messages: v.array(
    v.looseObject({
      extra: v.optional(v.looseObject({ response: v.optional(v.looseObject({ usage: v.optional(Usage) })) })),
    }),
  ),
});

/** Reads what the agent recorded of its calls; what it did not record is unknown. */
function readUsage(file: string): Pick<OtherExecution, "tokens" | "costUsd"> {
  const text = existsSync(file) ? readFileSync(file, "utf8") : "";
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), Trajectory), text);
  if (!parsed.success) return { tokens: undefined, costUsd: undefined };
  const { info, messages } = parsed.output;
  const usages = messages.flatMap(({ extra }) => extra?.response?.usage ?? []);
  const tokens = usages.length === 0 ? undefined : usages.reduce((sum, usage) => sum + usage.total_tokens, 0);
  // It counts 0 where LiteLLM knows no price.
  return { tokens, costUsd: info.model_stats?.instance_cost || undefined };
}
