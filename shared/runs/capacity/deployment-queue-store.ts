import * as v from "valibot";
import { parseOwner, type RunHead, type SlotKind, toCheckAttributes } from "#shared/records/run-head.ts";
import { keys, type Owner } from "#shared/table/keys.ts";
import type { Conditions, Table } from "#shared/table/table.ts";
import { type NamedWrites, transact } from "#shared/table/transact.ts";
import { countExecutions, countOwner } from "./execution-count-store.ts";
import { toHeldSlot } from "./slot-store.ts";

/** Entries that are read to find the position of a run. */
const MAX_POSITION = 1_000;

const Count = v.optional(v.number(), 0);
/** The executions of the deployment, the runs that wait for one, and the turn of the run that was granted one last. */
const Executions = v.object({ running: Count, waiting: Count, turn: Count });
export type Executions = v.InferOutput<typeof Executions>;
/** The runs of an owner that wait, and the turn of the last one that began to. */
const OwnerTurn = v.object({ waiting: Count, turn: Count });

/** A run that waits, by its owner's turn and then by its time. */
export interface DeploymentEntry {
  readonly runId: string;
  /** The sort key, which the head of the run names. */
  readonly entry: string;
  readonly turn: number;
}

/** The runs that wait until the deployment may have another execution. Each of them holds a slot of its owner or tree. */
export function deploymentQueueStore(table: Pick<Table, "get" | "query" | "transact">) {
  return {
    read: (): Promise<Executions> => readExecutions(table),

    /** The turn of the next run of an owner: the one after its last waiting run, or the current one. */
    async nextTurn(owner: Owner, { turn: current }: Executions): Promise<number> {
      const { waiting, turn } = v.parse(OwnerTurn, (await table.get(keys.deploymentTurn(owner))) ?? {});
      return waiting > 0 ? Math.max(current, turn + 1) : current;
    },

    /** The sort key of a run's entry. */
    toEntry: (runId: string, turn: number, now: number): string => keys.waitingForDeployment(turn, now, runId).sk,

    /**
     * Adds a queued run while the deployment meets `reason`. `writes` changes its head and reports that it waits.
     * @throws ConflictError: `head` or `entry` where the run has changed, `executions` where it need not wait, `ownerCounters`,
     *   `treeCounters` or `root` where it gets no slot to hold
     */
    async add(
      head: RunHead,
      { entry, turn, kind, reason }: { entry: string; turn: number; kind: SlotKind; reason: Conditions },
      writes: NamedWrites,
    ): Promise<void> {
      await transact(table, {
        executions: { ...countExecutions({ waiting: 1 }), if: reason },
        ...writes,
        entry: {
          kind: "put",
          item: { ...keys.deploymentEntry(entry), v: 1, run_id: head.run_id, turn },
          if: { pk: { exists: false } },
        },
        ownerTurn: { ...countOwner(parseOwner(head), 1), set: { turn } },
        ...toHeldSlot(head, kind),
      });
    },

    /** The run whose turn is next. */
    async next(): Promise<DeploymentEntry | undefined> {
      const { pk, sk: prefix } = keys.deploymentEntry("WAITING#");
      const { items } = await table.query({ pk, prefix, limit: 1 });
      return items[0] && { entry: items[0].sk, ...parseEntry(items[0]) };
    },

    /**
     * Counts a waiting run as an execution before it starts, and lets the reaper check it at `checkAt`.
     * @throws ConflictError: `head` or `entry` where it does not wait any more, `executions` where the deployment is full
     */
    async grant(
      { runId, entry, turn }: DeploymentEntry,
      owner: Owner,
      { maxExecutions, checkAt }: { readonly maxExecutions: number; readonly checkAt: number },
    ): Promise<void> {
      await transact(table, {
        executions: {
          ...countExecutions({ running: 1, waiting: -1 }),
          set: { turn },
          if: { running: { absentOr: { below: maxExecutions } } },
        },
        head: {
          kind: "update",
          key: keys.head(runId),
          set: { counted: true, ...toCheckAttributes(runId, checkAt) },
          remove: ["deployment_entry"],
          if: { state: { eq: "QUEUED" }, deployment_entry: { eq: entry } },
        },
        ...leaveQueue(entry),
        ownerTurn: countOwner(owner, -1),
      });
    },

    /**
     * Removes an entry that no run has, so that it does not keep others waiting.
     * @throws ConflictError: `entry` where it is removed already
     */
    async drop({ entry }: DeploymentEntry): Promise<void> {
      await transact(table, { executions: countExecutions({ waiting: -1 }), ...leaveQueue(entry) });
    },
  };
}

const readExecutions = async (table: Pick<Table, "get">): Promise<Executions> =>
  v.parse(Executions, (await table.get(keys.executions())) ?? {});

const leaveQueue = (entry: string): NamedWrites => ({
  entry: { kind: "delete", key: keys.deploymentEntry(entry), if: { pk: { exists: true } } },
});

/** Reads the position of a waiting run, from 1; undefined if it does not wait, or if many wait before it. */
export async function readDeploymentPosition(entry: string, table: Pick<Table, "query">): Promise<number | undefined> {
  const { pk, sk: from } = keys.deploymentEntry("WAITING#");
  const { items } = await table.query({ pk, from, to: entry, limit: MAX_POSITION });
  return items.at(-1)?.sk === entry ? items.length : undefined;
}

const Entry = v.object({ run_id: v.string(), turn: v.number() });

function parseEntry(item: unknown): Pick<DeploymentEntry, "runId" | "turn"> {
  const { run_id: runId, turn } = v.parse(Entry, item);
  return { runId, turn };
}
