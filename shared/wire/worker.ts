import * as v from "valibot";
import { PageInfo } from "./list.ts";
import { Count } from "./primitives.ts";

/** A self-hosted worker that is connected; several connections may share its id. */
export const WorkerItem = v.object({
  /** The id under which it connected: what `worker_host` of a configuration takes. */
  worker_host: v.string(),
  connection_count: Count,
  connected_at: v.string(),
  last_seen_at: v.string(),
});
export type WorkerItem = v.InferOutput<typeof WorkerItem>;

export const ListWorkersResponse = v.object({
  workers: v.array(WorkerItem),
  page_info: v.exactOptional(PageInfo),
});
