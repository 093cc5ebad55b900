import { expect } from "vitest";
import type { PersonalPrincipal } from "#shared/principals/principal.ts";
import type { Filters } from "#shared/runs/listing/filters.ts";
import { listVisibleRuns } from "#shared/runs/listing/list-runs.ts";
import type { Order } from "#shared/runs/listing/order.ts";
import type { Table } from "#shared/table/table.ts";
import { buildItems, type ListedRun } from "../../lab/bench/listed-run.ts";
import type { TestControlPlane } from "./control-plane.ts";

export const ORDERS: readonly Order[] = (["updated_at", "created_at", "title", "agent"] as const).flatMap((sortBy) =>
  [true, false].map((descending) => ({ sortBy, descending })),
);

/** Writes runs to the table as their creation and transitions do, without dispatching or counting them. */
export async function storeRuns(table: Table, runs: readonly ListedRun[]): Promise<void> {
  for (const run of runs) {
    const items = await buildItems(run);
    await table.transact(items.map((item) => ({ kind: "put", item })));
  }
}

/** The control plane's first person, who is in its first team. */
const person = ({ user, team }: Pick<TestControlPlane, "user" | "team">): PersonalPrincipal => ({
  kind: "personal",
  user: { uid: user, displayName: "Ada", email: "ada@runyard.test" },
  teams: [{ uid: team, role: "admin" }],
  activeTeam: undefined,
  teamItem: undefined,
  credential: { kind: "key", hash: "", usedAt: undefined, expiresAt: undefined },
});

interface Walk {
  readonly order: Order;
  readonly filters?: Filters;
  readonly limit: number;
  /** What happens between two pages. */
  readonly between?: () => Promise<void>;
}

/** Returns the ids of all pages. Checks that no page is empty while there is a next one. */
export async function walk(plane: TestControlPlane, { order, filters = {}, limit, between }: Walk): Promise<string[]> {
  const found: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await listVisibleRuns({ ...order, limit, filters, cursor }, person(plane), plane.ports);
    const { has_next_page, next_cursor } = page.page_info;
    expect(page.runs.length).toBeLessThanOrEqual(limit);
    if (has_next_page) expect(page.runs).not.toEqual([]);
    expect(next_cursor !== undefined).toBe(has_next_page);
    found.push(...page.runs.map(({ run_id }) => run_id));
    cursor = next_cursor;
    if (cursor !== undefined) await between?.();
  } while (cursor !== undefined);
  return found;
}
