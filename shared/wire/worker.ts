import * as v from "valibot";
import { PageInfo } from "./list.ts";
import { Count } from "./primitives.ts";

/** A connected self-hosted worker. Several connections may share its id. */
export const WorkerItem = v.object({
  /** The worker's id, the value for `worker_host` of a configuration. */
  worker_host: v.string(),
  connection_count: Count,
  connected_at: v.string(),
  last_seen_at: v.string(),
});
export type WorkerItem = v.InferOutput<typeof WorkerItem>;

/** A page of workers. */
export const ListWorkersResponse = v.object({
  workers: v.array(WorkerItem),
  page_info: v.exactOptional(PageInfo),
});
