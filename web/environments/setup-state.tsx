import type { EnvironmentItem } from "../../clients/typescript/src/index.ts";
import { isEnded } from "../ui/format.ts";

/** Whether the environment could be set up, as far as its latest runs tell. */
export function SetupState({ environment }: { readonly environment: EnvironmentItem }) {
  const { setup_failed, last_task_run_timestamp: lastRunAt, last_task_created: run } = environment;
  if (setup_failed) return <span className="badge tone-bad">Setup failed</span>;
  if (lastRunAt === null) return <span className="badge">Not used yet</span>;
  if (run === undefined) return null;
  if (!isEnded(run.state)) return <span className="badge tone-active">In use</span>;
  // A run that was cancelled or that the service failed says nothing about the setup.
  const isKnown = run.state !== "CANCELLED" && run.state !== "ERROR";
  return isKnown ? <span className="badge tone-good">Set up</span> : null;
}
