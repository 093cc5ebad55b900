import type { Cursors } from "#shared/pagination/cursor.ts";
import type { Table } from "#shared/table/table.ts";
import type { SecretVault } from "#shared/vault/secret-vault.ts";

/** Ports of the rules of secrets. */
export interface SecretPorts {
  readonly table: Table;
  readonly now: () => number;
  readonly cursors: Cursors;
  readonly vault: SecretVault;
}
