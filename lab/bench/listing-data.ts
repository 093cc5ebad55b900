import { sha256 } from "../../shared/ids.ts";
import type { RunBody } from "../../shared/records/run-body.ts";
import { timeBound } from "../../shared/runs/listing/run-index-store.ts";
import type { Owner } from "../../shared/table/keys.ts";
import type { RunSourceType, RunState } from "../../shared/wire/run.ts";
import type { ListedRun } from "./listed-run.ts";

/** Of a team that has used the service for a while. The same number always makes the same run. */
export interface Team {
  readonly teamUid: string;
  /** Who requests the lists; three of ten runs are theirs. */
  readonly userUid: string;
  /** When the first run was made, in milliseconds. */
  readonly start: number;
  /** Milliseconds between two runs, on average. */
  readonly every: number;
}

export const SCHEDULE = "019e3c75-9780-7000-8000-000000000001";
export const ENVIRONMENT = "019e3c75-9780-7000-8000-000000000002";
/** The only run with a unique value, among the oldest, and the run with children. */
const RARE = 500;
const PARENT = 100;
const CHILDREN = 80;
const ACTIVE: readonly RunState[] = ["INPROGRESS", "QUEUED", "QUEUED", "PENDING"];
/** The latest runs, which have not ended. */
export const ACTIVE_RUNS = 60;

const DAY_MS = 86_400_000;

/** Run number `number` of `total`. */
export function runNumber(number: number, total: number, team: Team): ListedRun {
  const draw = createDraw(number);
  const createdAt = toCreationTime(number, team);
  const isActive = number >= total - ACTIVE_RUNS;
  const state = isActive ? (ACTIVE[number % ACTIVE.length] ?? "QUEUED") : draw(STATES);
  const owner: Owner = number % 10 === 7 ? { type: "User", uid: team.userUid } : { type: "Team", uid: team.teamUid };
  const types = draw(ARTIFACTS);
  const artifacts = number === RARE ? ["SCREENSHOT"] : types === "" ? [] : [types];
  return {
    runId: toRunId(number, team),
    owner,
    createdAt,
    updatedAt: createdAt + (isActive ? 0 : draw([20_000, 60_000, 300_000, 3_600_000])),
    state: number === RARE ? "ERROR" : state,
    ...(artifacts.length === 0 ? {} : { artifactTypes: artifacts }),
    body: buildBody(number, team, draw),
  };
}

export const toParentId = (team: Team): string => toRunId(PARENT, team);

/** What the one rare run is found by. */
export const RARE_FILTERS = {
  name: "rare-name",
  model_id: "rare-model",
  creator: "rare-person",
  executor: "rare-person",
  source: "JIRA",
  environment_id: "rare-environment",
  skill_spec: "octo/rare:skill",
  schedule_id: "rare-schedule",
  artifact_type: "SCREENSHOT",
  state: "ERROR",
  "metadata[rare]": "yes",
  q: "xylophone",
} as const;

function buildBody(number: number, team: Team, draw: Draw): Partial<RunBody> {
  const isRare = number === RARE;
  const creator = number % 10 < 3 ? team.userUid : `person-${draw([1, 2, 3, 4, 5, 6, 7])}`;
  const profile = { type: "user" as const, uid: isRare ? RARE_FILTERS.creator : creator, display_name: "Somebody" };
  const source = draw<RunSourceType>(["API", "API", "API", "CLI", "SCHEDULED_AGENT", "WEB_APP"]);
  const isChild = number > PARENT && number <= PARENT + 5 * CHILDREN && number % 5 === 0;
  const schedule = isRare ? RARE_FILTERS.schedule_id : source === "SCHEDULED_AGENT" ? SCHEDULE : undefined;
  return {
    title: isRare
      ? "Tune the xylophone"
      : `${draw(VERBS)} ${draw(THINGS)} of service ${draw([1, 2, 3, 4, 5, 6, 7, 8, 9])}`,
    prompt: `Please look at the ${draw(THINGS)} of the repository and report what you find. ${"Be brief. ".repeat(draw([1, 10, 40]))}`,
    config: {
      name: isRare ? RARE_FILTERS.name : `job-${draw([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])}`,
      model_id: isRare ? RARE_FILTERS.model_id : draw(["local/runbook", "anthropic/one", "openai/two"]),
      environment_id: isRare ? RARE_FILTERS.environment_id : ENVIRONMENT,
      ...(isRare
        ? { skill_spec: RARE_FILTERS.skill_spec }
        : draw([true, false])
          ? { skill_spec: `octo/skills:${draw(VERBS)}` }
          : {}),
      idle_timeout_minutes: 10,
      computer_use_enabled: false,
    },
    creator: profile,
    executor: profile,
    source: isRare ? RARE_FILTERS.source : source,
    metadata: { team: draw(["red", "green", "blue"]), ticket: `T-${number}`, ...(isRare ? { rare: "yes" } : {}) },
    ...(isChild ? { parent_run_id: toParentId(team), ancestors: [toParentId(team)] } : {}),
    ...(schedule === undefined
      ? {}
      : { schedule: { schedule_id: schedule, schedule_name: "nightly", cron_schedule: "0 3 * * *" } }),
  };
}

const STATES: readonly RunState[] = [
  ...Array.from({ length: 17 }, () => "SUCCEEDED" as const),
  "FAILED",
  "FAILED",
  "CANCELLED",
];
const ARTIFACTS = ["", "", "", "", "", "", "FILE", "FILE", "PULL_REQUEST", ""] as const;
const VERBS = ["Review", "Repair", "Update", "Document", "Measure", "Clean"] as const;
const THINGS = ["build", "tests", "dependencies", "release notes", "dashboards", "alerts"] as const;

/** By day three times as many as by night. */
function toCreationTime(number: number, { start, every }: Team): number {
  const even = number * every;
  const day = Math.floor(even / DAY_MS);
  const part = (even % DAY_MS) / DAY_MS;
  const isDay = part < 0.75;
  const within = isDay ? (part / 0.75) * 0.5 : 0.5 + ((part - 0.75) / 0.25) * 0.5;
  return Math.floor(start + day * DAY_MS + within * DAY_MS);
}

function toRunId(number: number, team: Team): string {
  const hash = sha256(`run ${number}`);
  const time = timeBound(toCreationTime(number, team), { sortBy: "created_at", descending: false });
  return `${time}-7${hash.slice(0, 3)}-8${hash.slice(3, 6)}-${hash.slice(6, 18)}`;
}

type Draw = <T>(values: readonly [T, ...T[]] | readonly T[]) => T;

/** Random values that depend only on the number. */
function createDraw(number: number): Draw {
  const digest = Buffer.from(sha256(`draw ${number}`), "hex");
  let at = 0;
  return (values) => {
    const value = values[digest.readUInt16BE((at++ % 15) * 2) % values.length];
    if (value === undefined) throw new RangeError("nothing to draw from");
    return value;
  };
}
