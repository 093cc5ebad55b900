import type { RunItem } from "../../clients/typescript/src/index.ts";
import { formatExact } from "../ui/format.ts";
import { stateLabel, stateTone } from "../ui/run-state.tsx";
import { Strip } from "../ui/strip.tsx";

type StripRun = Pick<RunItem, "run_id" | "state" | "created_at">;

/** The states of runs as a strip, oldest first. `runs` are newest first. */
export const RunStrip = ({ runs }: { readonly runs: readonly StripRun[] }) => (
  <Strip
    label="States of the latest runs"
    items={runs.map(({ run_id, state, created_at }) => ({
      id: run_id,
      text: `${formatExact(created_at)}: ${stateLabel(state)}`,
      tone: stateTone(state),
      runId: run_id,
    }))}
  />
);
