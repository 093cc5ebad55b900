import { logLine } from "#shared/log/log.ts";
import type { RunBody } from "#shared/records/run-body.ts";
import { type EndedHead, readHead } from "#shared/records/run-head.ts";
import { readTeam } from "#shared/records/team.ts";
import { readConversationTail } from "#shared/runs/conversation-store.ts";
import { runStore } from "#shared/runs/run-store.ts";
import { completeDeletion, deleteRun, type RetentionPorts } from "./delete-run.ts";
import { deletionStore } from "./deletion-store.ts";
import { isEndedBefore, retentionStore } from "./retention-store.ts";

const DAY_MS = 24 * 3_600_000;
const HOUR_MS = 3_600_000;
/** Milliseconds after which a pass begins no other deletion; the next pass continues. */
const PASS_MS = 12 * 60_000;
/** Teams whose runs are deleted at the same time. */
const CONCURRENCY = 8;
/** Runs of a team with their descendants that are deleted until it is another team's turn. */
const TURN = 20;

export interface RetentionPass {
  /** Runs that were deleted. */
  deleted: number;
  /** Runs that could not be deleted, or whose deletion could not be completed. The next pass tries again. */
  failed: number;
}

/** Makes one pass: completes deletions that were interrupted, and deletes the runs that are older than their team keeps them. */
export async function enforceRetention(ports: RetentionPorts): Promise<RetentionPass> {
  const pass: RetentionPass = { deleted: 0, failed: 0 };
  const end = ports.now() + PASS_MS;
  for await (const runId of deletionStore(ports.table).unfinished()) {
    if (ports.now() > end) return pass;
    await count(pass, runId, async () => ((await completeDeletion(runId, ports)) ? 1 : 0));
  }
  const teams: string[] = [];
  for await (const team of retentionStore(ports.table).teams()) teams.push(team);
  await takeTurns(rotate(teams, Math.floor(end / HOUR_MS)), end, pass, ports);
  return pass;
}

/**
 * Deletes the old runs of teams by turns, so that a team with many of them does not use up the time of the others. Some teams have their
 * turn at the same time.
 */
async function takeTurns(
  teams: readonly string[],
  end: number,
  pass: RetentionPass,
  ports: RetentionPorts,
): Promise<void> {
  const waiting = teams.map((team) => deleteOldRuns(team, end, pass, ports));
  const serve = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const { done, value: isOver } = await next.next();
      if (isOver === true) waiting.length = 0;
      else if (done !== true) waiting.push(next);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, serve));
}

/** Begins with another team each hour, so that the first turns are not always those of the same teams. */
const rotate = (teams: readonly string[], hour: number): readonly string[] => {
  // Not the next team, but about the next third of them: the beginning would take days to get through a long list.
  const from = teams.length === 0 ? 0 : (hour * (Math.floor(teams.length / 3) + 1)) % teams.length;
  return [...teams.slice(from), ...teams.slice(0, from)];
};

/** Deletes the old runs of a team. Yields at the end of each of its turns. Returns true if the time of the pass is over. */
async function* deleteOldRuns(
  team: string,
  end: number,
  pass: RetentionPass,
  ports: RetentionPorts,
): AsyncGenerator<void, boolean> {
  const days = (await readTeam(team, ports.table))?.retention_days;
  if (days === undefined) return false;
  const before = ports.now() - days * DAY_MS;
  let runs = 0;
  for await (const runId of retentionStore(ports.table).endedBefore({ type: "Team", uid: team }, before)) {
    if (ports.now() > end) return true;
    await count(pass, runId, () => deleteTree(runId, before, ports));
    if (++runs % TURN === 0) yield;
  }
  return false;
}

/** Adds the deleted runs to the pass. A run that cannot be deleted does not keep the others from it. */
async function count(pass: RetentionPass, runId: string, work: () => Promise<number>): Promise<void> {
  try {
    pass.deleted += await work();
  } catch (error) {
    pass.failed++;
    logLine("error", "a run could not be deleted", { run_id: runId, error });
  }
}

/**
 * Deletes a run and its descendants, if all of them have ended before a time, and so have the latest runs of their
 * conversations. Runs below another run are left to it: they are read with it, and draw on its budget.
 * @returns the number of deleted runs
 */
async function deleteTree(rootId: string, before: number, ports: RetentionPorts): Promise<number> {
  const runIds = [rootId, ...(await retentionStore(ports.table).descendants(rootId))];
  // Those that are missing were deleted by an earlier pass.
  const tree = (await runStore(ports.table).many(runIds)).filter((run) => run !== undefined);
  const ended: { readonly head: EndedHead; readonly body: RunBody }[] = [];
  for (const { head, body } of tree) {
    const isBelow = head.run_id === rootId && head.root !== undefined;
    if (isBelow || !isEndedBefore(head, before) || (await isContinued(body, before, ports))) return 0;
    ended.push({ head, body });
  }
  let deleted = 0;
  // The youngest first, so that a run exists as long as the runs below it. A run that goes on keeps those above it.
  for (const { head, body } of ended.toReversed()) {
    if (!(await deleteRun(head, body, ports))) break;
    deleted++;
  }
  return deleted;
}

/** True if the latest run of the conversation, which may be the run itself, is kept. */
async function isContinued(body: RunBody, before: number, { table }: RetentionPorts): Promise<boolean> {
  const { latestRunId } = await readConversationTail(body.conversation_id, table);
  const latest = await readHead(latestRunId, table);
  return latest !== undefined && !isEndedBefore(latest, before);
}
