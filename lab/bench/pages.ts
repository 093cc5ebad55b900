import { uuidv7 } from "../../shared/ids.ts";
import { parseRunBody } from "../../shared/records/run-body.ts";
import { keys } from "../../shared/table/keys.ts";
import type { ControlPlane } from "./control-plane.ts";
import { newRunWrites } from "./new-run-writes.ts";

/** The most that one page reads, of all orders and of the first page and a later one. */
export interface PageCost {
  readonly runs: number;
  readonly pageSize: number;
  /** Index entries and items, those of the caller's authentication included. */
  readonly items: number;
}

const PAGE = 20;
const ORDERS = ["updated_at", "created_at", "title", "agent"];
const AT_ONCE = 16;

/** What a page of a list costs at several sizes of the list; `like` is a run that all others are made after. */
export async function measurePages(plane: ControlPlane, like: string, sizes: readonly number[]): Promise<PageCost[]> {
  const costs: PageCost[] = [];
  let there = 0;
  for (const runs of sizes) {
    await fill(plane, like, there, runs);
    there = runs;
    const items: number[] = [];
    for (const order of ORDERS) items.push(...(await twoPages(plane, order)));
    costs.push({ runs, pageSize: PAGE, items: Math.max(...items) });
  }
  return costs;
}

async function twoPages(plane: ControlPlane, order: string): Promise<number[]> {
  const first = await page(plane, order, "");
  const cursor = /"next_cursor":"([^"]+)"/.exec(JSON.stringify(first.body))?.[1] ?? "";
  const second = await page(plane, order, `&cursor=${encodeURIComponent(cursor)}`);
  return [first.items, second.items];
}

async function page(plane: ControlPlane, order: string, more: string) {
  const response = await plane.call("GET", `/agent/runs?limit=${PAGE}&sort_by=${order}${more}`);
  if (response.status !== 200) throw new Error(`the list returned ${response.status}`);
  return response;
}

/** Runs are put into the table as they are created, but neither dispatched nor counted. */
async function fill(plane: ControlPlane, like: string, from: number, to: number): Promise<void> {
  const item = await plane.table.get(keys.body(like));
  if (item === undefined) throw new Error(`run ${like} has no body`);
  const body = parseRunBody(item);
  const owner = { type: "Team", uid: plane.teamUid } as const;
  const start = Date.now();
  const put = async (index: number): Promise<void> => {
    const title = `Run number ${index} of many`;
    const writes = newRunWrites(uuidv7(start + index), owner, { ...body, title }, start + index);
    await plane.table.transact(writes.filter(({ kind }) => kind === "put"));
  };
  for (let index = from; index < to; index += AT_ONCE) {
    const some = Array.from({ length: Math.min(AT_ONCE, to - index) }, (_, offset) => put(index + offset));
    await Promise.all(some);
  }
}
