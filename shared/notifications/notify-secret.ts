import { createHmac } from "node:crypto";
import { readSigningKey } from "#shared/pagination/signing-key-store.ts";
import type { Table } from "#shared/table/table.ts";

/**
 * The secret that signs what is sent to the `notify_url` of a run, in the format of Standard Webhooks. It is derived from the
 * deployment's secret and stored nowhere, so that a repeated request gets the same one, and nothing is left of a deleted run.
 */
export async function deriveNotifySecret(runId: string, table: Table): Promise<string> {
  const secret = await readSigningKey("1", table);
  return `whsec_${createHmac("sha256", secret).update(`notify secret\n${runId}`).digest("base64")}`;
}
