import { ENVIRONMENT, RARE_FILTERS, SCHEDULE, type Team, toParentId } from "./listing-data.ts";

/** A list to read. */
export interface Case {
  readonly name: string;
  readonly query: string;
  /** Which of its pages; the first by default. */
  readonly page?: number;
}

const ACTIVE = "state=QUEUED&state=PENDING&state=CLAIMED&state=INPROGRESS";
const UPDATED = "sort_by=updated_at";
const CREATED = "sort_by=created_at";

/** Every order, each filter by itself with many matches and with one, and some pairs of filters. */
export function casesFor(team: Team, runs: number): readonly Case[] {
  const end = team.start + runs * team.every;
  const at = (time: number) => new Date(time).toISOString();
  const one = (name: string, value: string) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`;
  const orders = ["updated_at", "created_at", "title", "agent"].flatMap((by) =>
    ["desc", "asc"].map((direction) => ({
      name: `all, ${by} ${direction}`,
      query: `sort_by=${by}&sort_order=${direction}`,
    })),
  );
  const bounded = [
    ["schedule_id", one("schedule_id", SCHEDULE)],
    ["creator", one("creator", team.userUid)],
    ["creator of others, active runs between", one("creator", "person-3")],
    ["state, the active ones", ACTIVE],
    ["ancestor_run_id (80 descendants)", one("ancestor_run_id", toParentId(team))],
  ] as const;
  const common = {
    "state=FAILED": "state=FAILED",
    name: one("name", "job-3"),
    model_id: one("model_id", "openai/two"),
    executor: one("executor", "person-3"),
    source: one("source", "CLI"),
    execution_location: "execution_location=REMOTE",
    environment_id: one("environment_id", ENVIRONMENT),
    skill: one("skill", "octo/skills:Review"),
    artifact_type: "artifact_type=FILE",
    "metadata[team]": one("metadata[team]", "red"),
    q: "q=dependencies",
    created_after: one("created_after", at(end - 86_400_000)),
    "created_before, 500 runs": one("created_before", at(team.start + 500 * team.every)),
    "created_after and created_before, half of them": `${one("created_after", at(team.start + (runs / 4) * team.every))}&${one("created_before", at(end - (runs / 4) * team.every))}`,
    updated_after: one("updated_after", at(end - 86_400_000)),
  };
  const pairs = {
    "creator and state=FAILED": `${one("creator", team.userUid)}&state=FAILED`,
    "schedule_id and state=FAILED": `${one("schedule_id", SCHEDULE)}&state=FAILED`,
    "schedule_id and active states": `${one("schedule_id", SCHEDULE)}&${ACTIVE}`,
    "name and metadata[team]": `${one("name", "job-3")}&${one("metadata[team]", "red")}`,
    "name and metadata[ticket], one run": `${one("name", "rare-name")}&${one("metadata[ticket]", "T-500")}`,
    "metadata[ticket] and created_after, none": `${one("metadata[ticket]", "T-500")}&${one("created_after", at(end - 86_400_000))}`,
    "q and creator": `q=dependencies&${one("creator", team.userUid)}`,
    "q and created_after, none": `q=xylophone&${one("created_after", at(end - 86_400_000))}`,
    "schedule_id and source, none": `${one("schedule_id", SCHEDULE)}&${one("source", "CLI")}`,
    "artifact_type and source": `artifact_type=FILE&${one("source", "CLI")}`,
  };
  return [
    ...orders,
    { name: "all, updated_at desc, page 3", query: "sort_by=updated_at", page: 3 },
    ...bounded.flatMap(([name, query]) => [
      { name: `${name}, updated_at`, query: `${UPDATED}&${query}` },
      { name: `${name}, created_at`, query: `${CREATED}&${query}` },
    ]),
    ...Object.entries(common).map(([name, query]) => ({ name: `${name}, updated_at`, query: `${UPDATED}&${query}` })),
    ...Object.entries(RARE_FILTERS).flatMap(([name, value]) => [
      { name: `${name} of one run, updated_at`, query: `${UPDATED}&${one(name, value)}` },
    ]),
    { name: "state of one run, created_at", query: `${CREATED}&${one("state", RARE_FILTERS.state)}` },
    { name: "q of one run, created_at", query: `${CREATED}&${one("q", RARE_FILTERS.q)}` },
    { name: "name of one run, title", query: `sort_by=title&${one("name", RARE_FILTERS.name)}` },
    { name: "state of one run, title", query: `sort_by=title&${one("state", RARE_FILTERS.state)}` },
    { name: "state, the active ones, title", query: `sort_by=title&${ACTIVE}` },
    ...Object.entries(pairs).map(([name, query]) => ({ name: `${name}, updated_at`, query: `${UPDATED}&${query}` })),
  ];
}
