import { calculateWilsonInterval } from "./interval.ts";
import type { Task } from "./tasks.ts";

/** One execution of a task by an agent. */
export interface Attempt {
  readonly task: string;
  readonly agent: string;
  readonly repeat: number;
  /** Whether the checker accepts what the agent left. */
  readonly passed: boolean;
  /** How the agent ended: a state of a run, or its exit. */
  readonly end: string;
  /** Why it did not pass, or what the service did otherwise than the script says. */
  readonly failures: readonly string[];
  readonly seconds: number;
  readonly tokens: number | undefined;
  readonly costUsd: number | undefined;
}

export interface Report {
  readonly date: string;
  readonly commit: string;
  readonly model: string;
  readonly tasks: readonly Pick<Task, "name" | "language" | "kind">[];
  readonly attempts: readonly Attempt[];
  /** Tasks that were left out, and why. */
  readonly omitted: readonly { readonly task: string; readonly why: string }[];
}

/** Writes a report as Markdown. */
export function formatReport(report: Report): string {
  const agents = [...new Set(report.attempts.map(({ agent }) => agent))];
  const failed = report.attempts.filter(({ failures }) => failures.length > 0);
  return [
    "# Report of an evaluation",
    `${report.date}, commit ${report.commit}, model \`${report.model}\`. Written by \`npm run lab -- eval\`.`,
    formatTable(
      ["agent", "passed", "share", "95 % interval", "tokens", "cost in USD", "seconds per execution"],
      agents.map((agent) =>
        summarize(
          agent,
          report.attempts.filter((attempt) => attempt.agent === agent),
        ),
      ),
    ),
    formatTable(
      ["task", "language", "kind", ...agents],
      report.tasks.map((task) => listResults(task, agents, report)),
    ),
    ...(failed.length === 0 ? [] : ["## Failures", failed.flatMap(listFailures).join("\n")]),
    ...(report.omitted.length === 0
      ? []
      : ["## Not executed", report.omitted.map(({ task, why }) => `- ${task}: ${why}`).join("\n")]),
  ]
    .join("\n\n")
    .concat("\n");
}

function summarize(agent: string, attempts: readonly Attempt[]): string[] {
  const passed = attempts.filter((attempt) => attempt.passed).length;
  const { low, high } = calculateWilsonInterval(passed, attempts.length);
  const percent = (share: number) => `${Math.round(share * 100)} %`;
  const [tokens, cost] = [
    sum(attempts.map((attempt) => attempt.tokens)),
    sum(attempts.map((attempt) => attempt.costUsd)),
  ];
  const seconds = attempts.reduce((total, attempt) => total + attempt.seconds, 0) / attempts.length;
  return [
    agent,
    `${passed} of ${attempts.length}`,
    percent(passed / attempts.length),
    `${percent(low)} to ${percent(high)}`,
    tokens === undefined ? "unknown" : String(tokens),
    cost === undefined ? "unknown" : cost.toFixed(4),
    seconds.toFixed(1),
  ];
}

/** The sum, unless a value is unknown. */
const sum = (values: readonly (number | undefined)[]): number | undefined =>
  values.reduce((total, value) => (total === undefined || value === undefined ? undefined : total + value), 0);

function listResults(
  { name, language, kind }: Report["tasks"][number],
  agents: readonly string[],
  { attempts }: Report,
) {
  const results = agents.map((agent) => {
    const own = attempts.filter((attempt) => attempt.task === name && attempt.agent === agent);
    return own.length === 0 ? "–" : `${own.filter(({ passed }) => passed).length} of ${own.length}`;
  });
  return [name, language, kind, ...results];
}

const listFailures = ({ task, agent, repeat, end, failures }: Attempt): string[] =>
  failures.map((failure) => `- ${task}, ${agent}, repeat ${repeat}, ${end}: ${failure.replaceAll(/\s+/g, " ").trim()}`);

const formatTable = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
