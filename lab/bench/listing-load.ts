import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { BatchWriteCommand, type BatchWriteCommandInput, DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { clientSettings, type EmulatorAccess } from "../../emulator/emulator-access.ts";
import type { Item } from "../../shared/table/table.ts";

const ITEMS_A_BATCH = 25;
const BATCHES_AT_ONCE = 8;

type WriteRequest = NonNullable<BatchWriteCommandInput["RequestItems"]>[string][number];

/** Puts many items into a table: as they are, without conditions, and not all at once. */
export function bulkWriter(dynamo: EmulatorAccess, tableName: string) {
  const client = DynamoDBDocumentClient.from(new DynamoDBClient(clientSettings(dynamo)));
  const waiting: WriteRequest[] = [];
  const underWay = new Set<Promise<void>>();

  async function send(requests: readonly WriteRequest[]): Promise<void> {
    for (let rest: readonly WriteRequest[] = requests; rest.length > 0; ) {
      const response = await client.send(new BatchWriteCommand({ RequestItems: { [tableName]: [...rest] } }));
      rest = response.UnprocessedItems?.[tableName] ?? [];
    }
  }
  async function flush(): Promise<void> {
    const batch = send(waiting.splice(0, ITEMS_A_BATCH));
    underWay.add(batch);
    void batch.finally(() => underWay.delete(batch)).catch(() => undefined);
    if (underWay.size >= BATCHES_AT_ONCE) await Promise.race(underWay);
  }

  return {
    async put(items: readonly Item[]): Promise<void> {
      waiting.push(...items.map((item) => ({ PutRequest: { Item: item } })));
      while (waiting.length >= ITEMS_A_BATCH) await flush();
    },
    /** Waits for all of them. */
    async end(): Promise<void> {
      while (waiting.length > 0) await flush();
      await Promise.all(underWay);
      client.destroy();
    },
  };
}
