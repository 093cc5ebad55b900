import { createHmac } from "node:crypto";
import { readSigningKey } from "#shared/pagination/signing-key-store.ts";
import type { Table } from "#shared/table/table.ts";

/**
 * The secret that signs what is sent to the `notify_url` of a run, in the format of Standard Webhooks. It is derived from the
 * deployment's secret and stored nowhere, so that a repeated request gets the same one, and nothing is left of a deleted run.
 */
export const deriveNotifySecret = async (runId: string, table: Table): Promise<string> =>
  (await readNotifySecrets(table))(runId);

/** Reads the deployment's secret once, and derives from it the secrets of any number of runs. */
export async function readNotifySecrets(table: Table): Promise<(runId: string) => string> {
  const secret = await readSigningKey("1", table);
  return (runId) => `whsec_${createHmac("sha256", secret).update(`notify secret\n${runId}`).digest("base64")}`;
}
