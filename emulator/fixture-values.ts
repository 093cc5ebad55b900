import { Timeline } from "#shared/wire/event.ts";
import { ListRunsResponse, RunItem } from "#shared/wire/run.ts";
import { type Api, callApi } from "../server/host/api.ts";
import { Problem } from "../server/host/terminal.ts";
import type { FixtureValues, Placeholder } from "./event-fixture.ts";
import type { Installation } from "./local-file.ts";

/** Placeholders whose value is looked up at a run, unless it is given. */
const OF_A_RUN: readonly Placeholder[] = ["run_id", "execution_id", "conversation_id", "artifact_uid"];

/** Placeholders of resources that users create for a purpose, so none can be chosen automatically. */
const OF_A_TEAM: readonly Placeholder[] = [
  "schedule_id",
  "identity_uid",
  "environment_uid",
  "key_uid",
  "member_uid",
  "other_key",
  "invitation_id",
  "invitation_token",
  "session_uid",
  "rule_uid",
  "webhook_uid",
  "oidc_token",
];

/**
 * Values for the placeholders of a fixture: those that are given, then those of the local cloud, then those of the run
 * that is given or else of the latest one.
 */
export async function findValues(
  wanted: readonly Placeholder[],
  given: FixtureValues,
  local: Installation,
): Promise<FixtureValues> {
  const values: FixtureValues = {
    api_key: local.api_key,
    team_uid: local.team_uid,
    base_url: local.base_url,
    ...given,
  };
  const open = wanted.filter((name) => values[name] === undefined);
  if (open.includes("run_key")) {
    throw new Problem("{{run_key}}: a run's key is known to its sandbox alone; give one with --run-key KEY.");
  }
  const other = open.find((name) => OF_A_TEAM.includes(name));
  if (other !== undefined) {
    throw new Problem(
      `{{${other}}}: give one with --${other.replaceAll("_", "-")}; the answer to its creation names it.`,
    );
  }
  if (!open.some((name) => OF_A_RUN.includes(name))) return values;
  const api: Api = { baseUrl: local.base_url, key: local.api_key };
  const run = values.run_id === undefined ? await latestRun(api) : await fetchRun(values.run_id, api);
  return { ...(await readValues(run, open, api)), ...values };
}

async function latestRun(api: Api): Promise<RunItem> {
  const { runs } = await callApi(api, "GET", "/agent/runs?limit=1&sort_by=created_at", ListRunsResponse);
  const [latest] = runs;
  if (latest !== undefined) return latest;
  throw new Problem("There is no run yet: npm run invoke -- create-run events/http/create-run.json makes one.");
}

const fetchRun = (runId: string, api: Api): Promise<RunItem> =>
  callApi(api, "GET", `/agent/runs/${encodeURIComponent(runId)}`, RunItem);

async function readValues(run: RunItem, open: readonly Placeholder[], api: Api): Promise<FixtureValues> {
  const values: FixtureValues = { run_id: run.run_id };
  if (open.includes("conversation_id")) values.conversation_id = run.conversation_id ?? run.run_id;
  if (open.includes("execution_id")) {
    const { events } = await callApi(api, "GET", `/agent/runs/${run.run_id}/timeline`, Timeline);
    values.execution_id = requireValue(
      "execution",
      events.findLast(({ execution_id }) => execution_id)?.execution_id,
      run,
    );
  }
  if (open.includes("artifact_uid")) {
    const uids = (run.artifacts ?? []).flatMap(({ data }) => ("artifact_uid" in data ? [data.artifact_uid] : []));
    values.artifact_uid = requireValue("artifact", uids.at(-1), run);
  }
  return values;
}

function requireValue(what: string, value: string | undefined, run: RunItem): string {
  if (value !== undefined) return value;
  throw new Problem(`Run ${run.run_id} has no ${what}; name another run with --run-id ID.`);
}
