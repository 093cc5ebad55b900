import { setTimeout as pause } from "node:timers/promises";
import * as v from "valibot";
import { type Api, callApi } from "../../server/host/api.ts";
import { type BenchServer, startServer } from "../bench/single/server.ts";

const Delivery = v.object({
  delivery_id: v.string(),
  external_id: v.optional(v.string()),
  outcome: v.optional(v.string()),
  detail: v.optional(v.string()),
  run_id: v.optional(v.string()),
  followup_id: v.optional(v.string()),
});
export type SeenDelivery = v.InferOutput<typeof Delivery>;
const PageInfo = v.object({ has_next_page: v.boolean(), next_cursor: v.optional(v.nullable(v.string())) });
const Deliveries = v.object({ deliveries: v.array(Delivery), page_info: v.optional(PageInfo) });
const Run = v.object({ run_id: v.string(), state: v.string(), trigger_url: v.optional(v.string()) });
export type SeenRun = v.InferOutput<typeof Run>;
const Runs = v.object({ runs: v.array(Run), page_info: v.optional(PageInfo) });

/** A service that is killed and started again on the same state. */
export class Service {
  readonly #state: string;
  readonly #environment: NodeJS.ProcessEnv;
  #server: BenchServer | undefined;
  kills = 0;

  constructor(state: string, environment: NodeJS.ProcessEnv) {
    this.#state = state;
    this.#environment = { ...process.env, ...environment };
  }

  async start(): Promise<void> {
    this.#server = await startServer(this.#state, this.#environment);
  }

  /** While the service starts, the address is the former one, at which nothing responds. */
  get api(): Api {
    if (this.#server === undefined) throw new Error("the service was not started");
    return this.#server.api;
  }

  /** Ends the process without notice, and starts the next one. */
  async kill(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    process.kill(server.pid, "SIGKILL");
    this.kills++;
    await server.stop().catch(() => undefined);
    await this.start();
  }

  async stop(): Promise<void> {
    await this.#server?.stop();
  }
}

/** All deliveries to a trigger, newest first. */
export async function listDeliveries(api: Api, trigger: string): Promise<SeenDelivery[]> {
  const pages = await readPages(api, `/agent/triggers/${trigger}/deliveries`, Deliveries);
  return pages.flatMap(({ deliveries }) => deliveries);
}

export async function listRuns(api: Api): Promise<SeenRun[]> {
  const pages = await readPages(api, "/agent/runs", Runs);
  return pages.flatMap(({ runs }) => runs);
}

interface Page {
  readonly page_info?: v.InferOutput<typeof PageInfo> | undefined;
}

async function readPages<T extends Page>(api: Api, path: string, schema: v.GenericSchema<unknown, T>): Promise<T[]> {
  const pages: T[] = [];
  for (let cursor: string | undefined; ; ) {
    const query = new URLSearchParams({ limit: "500", ...(cursor === undefined ? {} : { cursor }) });
    const page = await callApi(api, "GET", `${path}?${query}`, schema);
    pages.push(page);
    cursor = page.page_info?.has_next_page === true ? (page.page_info.next_cursor ?? undefined) : undefined;
    if (cursor === undefined) return pages;
  }
}

/** Waits until a check holds. Returns whether it does in time. */
export async function waitUntil(check: () => Promise<boolean>, milliseconds: number): Promise<boolean> {
  for (const deadline = Date.now() + milliseconds; Date.now() < deadline; await pause(1_000)) {
    if (await check().catch(() => false)) return true;
  }
  return false;
}
