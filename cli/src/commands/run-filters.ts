import { Command, InvalidArgumentError } from "@commander-js/extra-typings";
import {
  RUN_STATES,
  type RunItem,
  type Runyard,
  TASK_STATUSES,
  type TaskStatus,
} from "../../../clients/typescript/src/index.ts";
import { environmentUid, scheduleId } from "../names.ts";
import { pairs, parseNumber, runSource, SOURCE_TEXT, time } from "../options.ts";

/** Creates a command with the filters of the list of runs as options. */
export function createFilteredCommand(name: string) {
  return new Command(name)
    .option("--state <state>", "only runs in this state; repeatable", states)
    .option("--task-status <status>", TASK_STATUS_TEXT, taskStatuses)
    .option("--search <text>", "only runs whose title, skill or prompt matches, tolerating typos, or a run's id or URL")
    .option("--metadata <name=value>", "only runs with this metadata; repeatable", pairs)
    .option("--env <uid|name>", "only runs in this environment")
    .option("--schedule <id|name>", "only runs of this schedule")
    .option("--trigger <uid>", "only runs of this trigger")
    .option("--automation <id>", "only runs of this trigger, or with this metadata automation_id")
    .option("--skill <spec>", "only runs from this skill")
    .option("--model <id>", "only runs with this model")
    .option("--creator <uid>", "only runs created by this account")
    .option("--ancestor <run>", "only descendants of this run")
    .option(
      "--min-cost <usd>",
      "only runs that have cost at least this many US dollars without their child runs",
      parseNumber,
    )
    .option("--source <source>", `${SOURCE_TEXT}; repeatable`, runSources)
    .option("--after <time>", "only runs created after this time: a date, or an age such as 90m, 24h, 7d", time)
    .option("--before <time>", "only runs created before this time", time);
}

export type FilterOptions = ReturnType<ReturnType<typeof createFilteredCommand>["opts"]>;

/** Converts the options to the filters of the list; those that were not given are undefined. */
export async function toFilters(client: Runyard, options: FilterOptions) {
  return {
    state: options.state,
    task_status: options.taskStatus,
    q: options.search,
    metadata: options.metadata,
    environment_id: options.env === undefined ? undefined : await environmentUid(client, options.env),
    schedule_id: options.schedule === undefined ? undefined : await scheduleId(client, options.schedule),
    trigger_id: options.trigger,
    automation_id: options.automation,
    skill: options.skill,
    model_id: options.model,
    creator: options.creator,
    ancestor_run_id: options.ancestor,
    min_cost_usd: options.minCost,
    source: options.source,
    created_after: options.after,
    created_before: options.before,
  };
}

/** Parses states in any case, and rejects unknown ones. */
function states(text: string, earlier: readonly RunItem["state"][] = []): RunItem["state"][] {
  const state = RUN_STATES.find((one) => one === text.toUpperCase());
  if (state === undefined) throw new InvalidArgumentError(`Allowed choices are ${RUN_STATES.join(", ")}.`);
  return [...earlier, state];
}

const TASK_STATUS_TEXT = `only tasks with this status: ${TASK_STATUSES.join(", ")}; repeatable`;

function taskStatuses(text: string, earlier: readonly TaskStatus[] = []): TaskStatus[] {
  const status = TASK_STATUSES.find((one) => one === text.toLowerCase());
  if (status === undefined) throw new InvalidArgumentError(`Allowed choices are ${TASK_STATUSES.join(", ")}.`);
  return [...earlier, status];
}

const runSources = (text: string, earlier: readonly string[] = []): string[] => [...earlier, runSource(text)];
