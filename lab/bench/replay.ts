import * as v from "valibot";
import { clientSettings, type EmulatorAccess } from "../../emulator/emulator-access.ts";
import { DynamoClient } from "../../shared/aws/dynamo-client.ts";
import { type MeteredRequest, type MeteredUnits, metered, newMeter } from "../../shared/aws/metering.ts";
import { makeTable } from "./metered-table.ts";

/** Measures the cost of writes by repeating them in another table. */
export interface Replay {
  measureUnits(requests: readonly MeteredRequest[]): Promise<MeteredUnits[]>;
  close(): Promise<void>;
}

const Attributes = v.record(v.string(), v.unknown());
const Update = v.object({
  Key: Attributes,
  UpdateExpression: v.exactOptional(v.string()),
  ExpressionAttributeNames: v.exactOptional(Attributes),
  ExpressionAttributeValues: v.exactOptional(Attributes),
});
const Write = v.object({
  Put: v.exactOptional(v.object({ Item: Attributes })),
  Delete: v.exactOptional(v.object({ Key: Attributes })),
  Update: v.exactOptional(Update),
  ConditionCheck: v.exactOptional(v.object({ Key: Attributes })),
});
type Write = v.InferOutput<typeof Write>;
const Transaction = v.object({ TransactItems: v.array(Write) });
const Found = v.object({ Item: v.exactOptional(Attributes) });

/**
 * DynamoDB Local reports the cost of a single write as AWS does, but only one item's cost of a transaction. So each
 * write of a transaction is done once more by itself in a second table. Within the transaction it costs twice as much in
 * the table, and the same in an index.
 */
export async function openReplay(dynamo: EmulatorAccess, tableName: string): Promise<Replay> {
  const { drop } = await makeTable(dynamo, tableName);
  const meter = newMeter();
  const client = metered(new DynamoClient(clientSettings(dynamo)), meter);

  async function again(write: Write): Promise<MeteredUnits[]> {
    const { Put, Update: update, Delete, ConditionCheck } = write;
    if (Put !== undefined) await client.send("PutItem", { TableName: tableName, Item: Put.Item });
    if (Delete !== undefined) await client.send("DeleteItem", { TableName: tableName, Key: Delete.Key });
    if (update !== undefined) await client.send("UpdateItem", { ...withoutUnused(update), TableName: tableName });
    if (ConditionCheck !== undefined) {
      // A check costs what writing its item costs; written as it is, no index sees it.
      const { Item } = v.parse(Found, await client.send("GetItem", { TableName: tableName, Key: ConditionCheck.Key }));
      if (Item !== undefined) await client.send("PutItem", { TableName: tableName, Item });
    }
    return meter.units.splice(0).filter(({ kind }) => kind === "write");
  }

  return {
    async measureUnits(requests) {
      const units: MeteredUnits[] = [];
      for (const { command, input } of requests) {
        for (const write of parseWrites(command, input)) {
          const inTransaction = command === "TransactWriteItems";
          for (const cost of await again(write)) {
            const factor = inTransaction && cost.index === undefined ? 2 : 1;
            units.push({ ...cost, command, units: cost.units * factor });
          }
        }
      }
      return units;
    },
    async close() {
      await drop();
      client.destroy();
    },
  };
}

function parseWrites(command: string, input: object): readonly Write[] {
  if (command === "TransactWriteItems") return v.parse(Transaction, input).TransactItems;
  const kind = /^(Put|Update|Delete)Item$/.exec(command)?.[1];
  return kind === undefined ? [] : [v.parse(Write, { [kind]: input })];
}

/** Names and values that only the condition used are refused without a condition. */
function withoutUnused(update: v.InferOutput<typeof Update>): object {
  const { UpdateExpression = "", ExpressionAttributeNames, ExpressionAttributeValues } = update;
  const tokens = new Set(UpdateExpression.match(/[#:]\w+/g));
  const used = (map: Record<string, unknown> | undefined) => {
    const entries = Object.entries(map ?? {}).filter(([token]) => tokens.has(token));
    return entries.length === 0 ? undefined : Object.fromEntries(entries);
  };
  return {
    Key: update.Key,
    ...(UpdateExpression === "" ? {} : { UpdateExpression }),
    ExpressionAttributeNames: used(ExpressionAttributeNames),
    ExpressionAttributeValues: used(ExpressionAttributeValues),
  };
}
