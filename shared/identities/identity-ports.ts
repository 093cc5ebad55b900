import type { Cursors } from "#shared/pagination/cursor.ts";
import type { Table } from "#shared/table/table.ts";

/** Ports of the rules of identities, teams and keys. */
export interface IdentityPorts {
  readonly table: Table;
  readonly now: () => number;
  readonly cursors: Cursors;
}
