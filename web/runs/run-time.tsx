import type { RunItem } from "../../clients/typescript/src/index.ts";
import { formatDuration, parseDuration } from "../ui/format.ts";
import { useNow } from "../ui/time.tsx";

/** The time that a run has executed; it counts on while the run executes. */
export function RunTime({ run }: { readonly run: RunItem }) {
  return run.state === "INPROGRESS" && run.started_at ? <Running run={run} /> : measured(run);
}

function Running({ run }: { readonly run: RunItem }) {
  const now = useNow();
  const started = Date.parse(run.started_at ?? run.created_at);
  return <>{formatDuration(Math.max(0, now - started))}</>;
}

function measured(run: RunItem): string {
  const milliseconds = parseDuration(run.run_time);
  return milliseconds === undefined || milliseconds === 0 ? "" : formatDuration(milliseconds);
}
