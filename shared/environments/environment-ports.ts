import type { Cursors } from "#shared/pagination/cursor.ts";
import type { Table } from "#shared/table/table.ts";

/** What the rules of environments need from their infrastructure. */
export interface EnvironmentPorts {
  readonly table: Table;
  readonly now: () => number;
  readonly cursors: Cursors;
  readonly baseUrl: string;
}
