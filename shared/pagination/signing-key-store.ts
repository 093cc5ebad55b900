import * as v from "valibot";
import { keys } from "#shared/table/keys.ts";
import type { Table } from "#shared/table/table.ts";

const SigningKey = v.object({ secret: v.string() });

/** Reads the secret that cursors are signed with. */
export async function readSigningKey(id: string, table: Table): Promise<string> {
  const item = await table.get(keys.signing(id));
  if (item === undefined) throw new Error("there is no signing key: run the bootstrap");
  return v.parse(SigningKey, item).secret;
}
