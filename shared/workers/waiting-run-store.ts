import { keys, offerPrefix, teamPk } from "#shared/table/keys.ts";
import type { Table } from "#shared/table/table.ts";

/** Seconds that a run's place is kept; the reaper renews it. */
const WAITING_SECONDS = 86_400;

interface WaitingPorts {
  readonly table: Table;
  readonly now: () => number;
}

/** The runs that wait for a self-hosted worker, the oldest first. */
export const waitingRunStore = ({ table, now }: WaitingPorts) => ({
  /** Adds a run. */
  async add(team: string, workerHost: string, runId: string): Promise<void> {
    const key = keys.waitingForWorker(team, workerHost, runId);
    const expires_at = Math.ceil(now() / 1000) + WAITING_SECONDS;
    await table.write({ kind: "put", item: { ...key, v: 1, run_id: runId, expires_at } });
  },

  /** Removes a run that does not wait any more. */
  async remove(team: string, workerHost: string, runId: string): Promise<void> {
    await table.write({ kind: "delete", key: keys.waitingForWorker(team, workerHost, runId) });
  },

  /** The ids of the runs that have waited longest, the oldest first. */
  async oldest(team: string, workerHost: string, limit: number): Promise<string[]> {
    const prefix = offerPrefix(workerHost);
    const { items } = await table.query({ pk: teamPk(team), prefix, limit });
    return items.map(({ sk }) => sk.slice(prefix.length));
  },
});
