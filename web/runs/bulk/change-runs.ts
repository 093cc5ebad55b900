import type { RunItem, RunsListParams } from "../../../clients/typescript/src/index.ts";
import { client } from "../../api/client.ts";
import { describeError } from "../../api/problem.ts";
import { checkTexts, toDraft, toRunRequest } from "../../new-run/draft.ts";
import { ACTIVE_STATES } from "../run-search.ts";

export type BulkAction = "cancel" | "archive" | "unarchive" | "again" | "delete";

/** What came of an action on several runs. */
export interface BulkResult {
  readonly changed: number;
  /** Why runs were not changed, each reason with their number. */
  readonly refused: ReadonlyMap<string, number>;
}

/** Limit of the concurrent requests for single runs. */
const MAX_CONCURRENT = 4;

/** Changes runs one by one. `onProgress` gets the number of those that are done. */
export async function changeEach(
  action: BulkAction,
  runs: readonly RunItem[],
  onProgress: (done: number) => void,
): Promise<BulkResult> {
  const refused = new Map<string, number>();
  const waiting = [...runs];
  let done = 0;
  const work = async () => {
    for (let run = waiting.shift(); run !== undefined; run = waiting.shift()) {
      try {
        await changeOne(action, run.run_id);
      } catch (error) {
        count(refused, describeError(error).text);
      }
      onProgress(++done);
    }
  };
  await Promise.all(Array.from({ length: MAX_CONCURRENT }, work));
  return { changed: runs.length - sum(refused), refused };
}

async function changeOne(action: BulkAction, runId: string): Promise<unknown> {
  if (action === "cancel") return client.runs.cancel(runId);
  if (action === "archive") return client.runs.archive(runId);
  if (action === "unarchive") return client.runs.unarchive(runId);
  if (action === "delete") return client.runs.delete(runId);
  // Lists truncate prompts, so the run is read again.
  const draft = toDraft(await client.runs.retrieve(runId));
  const [wrong] = Object.values(checkTexts(draft));
  if (wrong !== undefined) throw new Error(wrong);
  return client.runs.create(toRunRequest(draft));
}

/** Actions that the API takes for all runs that match a filter. */
export type MatchingAction = Exclude<BulkAction, "again">;

/** Changes all runs that match the filters of a list, page by page. `onProgress` gets the number of those that are done. */
export async function changeMatching(
  action: MatchingAction,
  { sort_by: _, ...filter }: RunsListParams,
  onProgress: (done: number) => void,
): Promise<BulkResult> {
  const refused = new Map<string, number>();
  let changed = 0;
  let cursor: string | undefined;
  for (let more = true; more; ) {
    const page = await (action === "cancel" ? cancelPage(filter, cursor) : changePage(action, filter, cursor));
    for (const { error_code } of page.refused) count(refused, toReason(error_code));
    changed += page.changed;
    cursor = page.next;
    more = cursor !== undefined;
    onProgress(changed + sum(refused));
  }
  return { changed, refused };
}

interface ChangedPage {
  readonly changed: number;
  readonly refused: readonly { readonly error_code: string }[];
  readonly next?: string | undefined;
}

async function cancelPage(filter: RunsListParams, cursor: string | undefined): Promise<ChangedPage> {
  const active = { ...filter, state: filter.state?.filter((one) => ACTIVE_STATES.includes(one)) ?? [...ACTIVE_STATES] };
  if (active.state.length === 0) return { changed: 0, refused: [] };
  const body = { filter: active, ...(cursor === undefined ? {} : { cursor }) };
  const { cancelled, refused, next_cursor } = await client.runs.cancelMany(body);
  return { changed: cancelled, refused, next: next_cursor };
}

async function changePage(
  action: Exclude<MatchingAction, "cancel">,
  filter: RunsListParams,
  cursor: string | undefined,
): Promise<ChangedPage> {
  const which = Object.keys(filter).length === 0 ? ({ all: true } as const) : { filter };
  const body = { ...which, ...(cursor === undefined ? {} : { cursor }) };
  const next = ({ page_info }: { page_info: { next_cursor?: string } }) => ({ next: page_info.next_cursor });
  if (action === "archive") {
    const page = await client.runs.archiveMany(body);
    return { changed: page.archived.length, refused: page.refused, ...next(page) };
  }
  if (action === "unarchive") {
    // Without this, a list leaves archived runs out.
    const archived = { filter: { ...filter, archived: filter.archived ?? ("true" as const) } };
    const page = await client.runs.unarchiveMany({ ...body, ...archived });
    return { changed: page.unarchived.length, refused: page.refused, ...next(page) };
  }
  const page = await client.runs.deleteMany(body);
  return { changed: page.deleted.length, refused: page.refused, ...next(page) };
}

const REASONS: Readonly<Record<string, string>> = {
  conflict: "the run's state does not allow it",
  not_authorized: "it is not yours to change",
  operation_not_supported: "runs of self-hosted workers and local runs are cancelled one by one, by force",
  resource_not_found: "it no longer exists",
};

const toReason = (code: string): string => REASONS[code] ?? code;

const count = (reasons: Map<string, number>, reason: string): void =>
  void reasons.set(reason, (reasons.get(reason) ?? 0) + 1);

const sum = (reasons: ReadonlyMap<string, number>): number =>
  [...reasons.values()].reduce((total, one) => total + one, 0);
