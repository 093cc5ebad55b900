import type { Cursors } from "#shared/pagination/cursor.ts";
import type { Table } from "#shared/table/table.ts";
import type { SecretVault } from "#shared/vault/secret-vault.ts";

/** What the rules of secrets need from the world. */
export interface SecretPorts {
  readonly table: Table;
  readonly now: () => number;
  readonly cursors: Cursors;
  readonly vault: SecretVault;
}
