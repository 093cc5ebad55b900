import type { RunItem } from "../../../clients/typescript/src/index.ts";

/** When a run was executed, as parts of the time that the whole tree took. */
export interface ChildSpan {
  readonly left: number;
  readonly width: number;
}

/** Lays out the runs of a tree on one axis, from the first start to the last end. `now` ends those that go on. */
export function toChildSpans(runs: readonly RunItem[], now: number): ReadonlyMap<string, ChildSpan> {
  const times = runs.map(({ run_id, created_at, started_at, finished_at }) => {
    const start = Date.parse(started_at ?? created_at);
    const end = typeof finished_at === "string" ? Date.parse(finished_at) : now;
    return { run_id, start, end: Math.max(start, end) };
  });
  const first = times.reduce((least, { start }) => Math.min(least, start), Number.POSITIVE_INFINITY);
  const length = Math.max(1, times.reduce((most, { end }) => Math.max(most, end), 0) - first);
  return new Map(
    times.map(({ run_id, start, end }) => [
      run_id,
      { left: ((start - first) / length) * 100, width: ((end - start) / length) * 100 },
    ]),
  );
}
