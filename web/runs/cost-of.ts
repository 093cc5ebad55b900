import type { RunItem } from "../../clients/typescript/src/index.ts";

/** What a run has cost so far without its child runs, in US dollars. */
export const costOf = ({ request_usage: usage }: Pick<RunItem, "request_usage">): number =>
  (usage?.inference_cost ?? 0) + (usage?.compute_cost ?? 0) + (usage?.platform_cost ?? 0);
