import type { RunFollowupRequest, RunItem } from "../../clients/typescript/src/index.ts";
import { client } from "../api/client.ts";
import { isEnded } from "../ui/format.ts";

/** Sends a follow-up. A run that has ended continues with it at once, so the policy is only sent to one that has not. */
export const sendFollowup = (
  { run_id, state }: RunItem,
  message: string,
  policy: NonNullable<RunFollowupRequest["policy"]> = "enqueue",
) => client.runs.sendFollowup(run_id, { message, ...(isEnded(state) ? {} : { policy }) });
