import type { Cursors } from "#shared/pagination/cursor.ts";
import type { Table } from "#shared/table/table.ts";

/** What the rules of identities, teams and keys need from the world. */
export interface IdentityPorts {
  readonly table: Table;
  readonly now: () => number;
  readonly cursors: Cursors;
}
