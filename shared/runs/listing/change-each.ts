import { type ErrorCode, RunyardError } from "#shared/errors.ts";
import { describeChange } from "#shared/http/audit/trail.ts";
import { parseOwner } from "#shared/records/run-head.ts";
import type { RunFilter } from "#shared/wire/cancel.ts";
import type { FoundRun } from "./filters.ts";

/** Runs that are changed at the same time. Those of an owner change one counter, so that many would only wait for each other. */
const AT_ONCE = 4;

interface Results {
  /** The number of runs that were tried. */
  readonly matched: number;
  readonly changed: string[];
  readonly refused: { readonly run_id: string; readonly error_code: ErrorCode }[];
}

/** Changes runs until it is late, and at least the first ones. One that is refused stops nothing. */
export async function changeEach<T extends { readonly id: string }>(
  runs: readonly T[],
  change: (run: T) => Promise<void>,
  isLate: () => boolean,
): Promise<Results> {
  const changed: string[] = [];
  const refused: Results["refused"] = [];
  for (let from = 0; from < runs.length; from += AT_ONCE) {
    const some = runs.slice(from, from + AT_ONCE);
    const codes = await Promise.all(some.map((run) => findRefusal(change(run))));
    for (const [index, { id }] of some.entries()) {
      const code = codes[index];
      if (code === undefined) changed.push(id);
      else refused.push({ run_id: id, error_code: code });
    }
    if (isLate()) break;
  }
  return { matched: changed.length + refused.length, changed, refused };
}

const findRefusal = (change: Promise<void>): Promise<ErrorCode | undefined> =>
  change.then(
    () => undefined,
    (error: unknown) => {
      if (error instanceof RunyardError) return error.code;
      throw error;
    },
  );

/** Describes a request that changes many runs in the log of each team that owns some of them. */
export function describeBulkChange(runs: readonly FoundRun[], filter: RunFilter | undefined): void {
  const teams = Map.groupBy(
    runs.map(({ head }) => parseOwner(head)).filter(({ type }) => type === "Team"),
    ({ uid }) => uid,
  );
  const described = filter === undefined ? {} : { filter: withoutText(filter) };
  describeChange([...teams].map(([team, owners]) => [team, { matched: owners.length, ...described }]));
}

/** The filter for the audit log, which has no text of prompts. */
const withoutText = (filter: RunFilter): RunFilter => (filter.q === undefined ? filter : { ...filter, q: "***" });
