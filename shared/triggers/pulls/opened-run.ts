import { listArtifacts } from "#shared/artifacts/artifact-store.ts";
import { type FoundRun, findLatest } from "#shared/runs/read-run.ts";
import { listReferringRuns } from "#shared/runs/references/reference-store.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import type { Update } from "#shared/table/table.ts";
import type { AccessPorts } from "../access.ts";
import type { AnsweredEvent } from "../event.ts";
import { findSource } from "../sources/find-source.ts";
import type { Trigger } from "../trigger-store.ts";
import { findPullHead } from "./find-pull-head.ts";
import { putOwnBranch } from "./own-branch-store.ts";
import { findBranchToPush, isOfEvent } from "./pull-head.ts";

/** Runs of the team that may have opened one pull request, newest first. */
const MAX_RUNS = 20;

/** The run that has opened a pull request. */
export interface OpenedRun {
  /** The latest run of its conversation. */
  readonly run: FoundRun;
  /** The write by which it works on the branch of the pull request; absent where nothing may push there. */
  readonly branch?: Update;
}

/**
 * Finds the newest run of the team that has opened the pull request which a comment is about, and that has its repository. Undefined for
 * other events, and for a pull request of a fork: anybody can write there, and the run may have secrets.
 */
export async function findOpenedRun(
  trigger: Trigger,
  event: AnsweredEvent,
  ports: RunPorts & AccessPorts,
): Promise<OpenedRun | undefined> {
  const pull = findSource(trigger).toPull?.(event);
  if (pull?.isComment !== true || pull.url === "") return undefined;
  const opener = await findOpener(pull.url, trigger, event, ports);
  if (opener === undefined) return undefined;
  const head = await findPullHead(trigger, event, ports);
  if (head?.isFork === true) return undefined;
  const run = await findLatest(opener, ports);
  if (run === undefined || !hasRepository(run, trigger, event)) return undefined;
  const { repositories = [] } = run.body.config;
  const push = head && findBranchToPush(repositories, trigger, event, head.branch);
  return push === undefined
    ? { run }
    : { run, branch: putOwnBranch(run.head.run_id, { ...push, trigger_id: trigger.uid }) };
}

async function findOpener(
  url: string,
  trigger: Trigger,
  event: AnsweredEvent,
  { table, runs }: RunPorts,
): Promise<FoundRun | undefined> {
  for (const runId of await listReferringRuns(trigger.owner, url, MAX_RUNS, table)) {
    const run = await runs.headAndBody(runId);
    // Runs that events of the pull request have started refer to it too.
    if (run?.head.artifact_types?.includes("PULL_REQUEST") !== true || !hasRepository(run, trigger, event)) continue;
    const artifacts = await listArtifacts(runId, table);
    if (artifacts.some((one) => one.artifact_type === "PULL_REQUEST" && one.url === url)) return run;
  }
  return undefined;
}

const hasRepository = ({ body }: FoundRun, trigger: Trigger, event: AnsweredEvent): boolean =>
  body.trigger?.is_fork !== true &&
  (body.config.repositories ?? []).some((repository) => isOfEvent(repository, trigger, event));
