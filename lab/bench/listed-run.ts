import { type ExecutingState, isTerminal, type TerminalState } from "../../shared/records/run.ts";
import type { RunBody } from "../../shared/records/run-body.ts";
import { parseRunHead } from "../../shared/records/run-head.ts";
import { changeFacets, copyFacets } from "../../shared/runs/archiving/facet-store.ts";
import type { Change } from "../../shared/runs/transition.ts";
import { toTransitionWrites } from "../../shared/runs/transition-store.ts";
import { keys, type Owner, runPk } from "../../shared/table/keys.ts";
import { memoryTable } from "../../shared/table/memory-table.ts";
import type { Item, Table, TransactionWrite } from "../../shared/table/table.ts";
import { listWrites } from "../../shared/table/transact.ts";
import type { RunState } from "../../shared/wire/run.ts";
import { newRunWrites } from "./new-run-writes.ts";

/** A run as a list sees it. Times are milliseconds. */
export interface ListedRun {
  /** A UUIDv7, which says when the run was created. */
  readonly runId: string;
  readonly owner: Owner;
  readonly createdAt: number;
  /** When it came into its present state. */
  readonly updatedAt: number;
  readonly state: RunState;
  /** What of its body is not as in every run. */
  readonly body?: Partial<RunBody>;
  readonly artifactTypes?: readonly string[];
  readonly archived?: true;
}

/** The items of the run that lists read, made as create and the moves make them; its events and counters are left out. */
export async function buildItems(run: ListedRun): Promise<readonly Item[]> {
  const { runId, owner, createdAt, updatedAt, state, artifactTypes } = run;
  const table = memoryTable();
  await table.transact(ownWrites(runId, newRunWrites(runId, owner, buildBody(run), createdAt)));
  for (const to of pathTo(state)) {
    const item = await table.get(keys.head(runId));
    if (item === undefined) throw new Error("the run is gone");
    const types = artifactTypes === undefined ? {} : { artifact_types: artifactTypes };
    const events = [{ type: "checkpoint_saved", data: { state: to } }] as const;
    const change: Change = isTerminal(to)
      ? { to, via: "INPROGRESS", events, set: { ...types, ended_at: updatedAt }, checkAt: null }
      : { to, events, set: { ...types, ...executing(to, updatedAt) }, checkAt: updatedAt + 60_000 };
    await table.transact(ownWrites(runId, listWrites(toTransitionWrites(parseRunHead(item), change, updatedAt))));
  }
  if (run.archived) await archive(runId, table);
  return table.all().filter(({ sk }) => !/^EVENT#(?!0*1$)/.test(sk));
}

async function archive(runId: string, table: Table): Promise<void> {
  const item = await table.get(keys.head(runId));
  if (item === undefined) throw new Error("the run is gone");
  const head = parseRunHead(item);
  const p = { ...head.p, archived: true as const };
  const change = { events: [], ...changeFacets(head, p), also: { facets: copyFacets(runId, p) } };
  await table.transact(ownWrites(runId, listWrites(toTransitionWrites(head, change, head.updated_at))));
}

/** Through the states that it takes to get there, the last of them at the end of an execution. */
function pathTo(state: RunState): readonly (ExecutingState | TerminalState)[] {
  if (state === "QUEUED") return [];
  return state === "PENDING" ? [state] : ["PENDING", state];
}

const executing = (to: ExecutingState, now: number) => ({
  ...(to === "PENDING" ? { execution_id: "019e3c75-9780-7d2e-bdb4-8d231d7e92e6", key_hash: "0".repeat(64) } : {}),
  state_since: now,
  heartbeat_at: now,
});

const NOBODY = { type: "user" as const, uid: "nobody" };

function buildBody({ runId, body = {} }: ListedRun): RunBody {
  const { creator = NOBODY } = body;
  return {
    title: "Tidy up the build",
    prompt: "Tell the time.\n\n```sh\ndate\n```",
    config: {},
    creator,
    executor: creator,
    source: "API",
    execution_location: "REMOTE",
    conversation_id: runId,
    ancestors: [],
    mode: "normal",
    interactive: false,
    attachments: [],
    ...body,
  };
}

/** The writes of a run's own items, without conditions on what is not there. */
export const ownWrites = (runId: string, writes: readonly TransactionWrite[]): TransactionWrite[] =>
  writes.filter((one) => one.kind === "put" || one.key.pk === runPk(runId)).map(unconditional);

function unconditional(write: TransactionWrite): TransactionWrite {
  if (write.kind === "check") return write;
  const { if: _, ...rest } = write;
  return rest;
}
