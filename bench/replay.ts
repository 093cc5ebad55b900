import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import {
  DeleteCommand,
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  type TransactWriteCommandInput,
  UpdateCommand,
} from "@aws-sdk/lib-dynamodb";
import { type MeteredRequest, type MeteredUnits, metered, newMeter } from "#shared/aws/metering.ts";
import { clientSettings, type EmulatorAccess } from "../local/emulator-access.ts";
import { makeTable } from "./metered-table.ts";

/** What writes cost, found out by writing the same once more elsewhere. */
export interface Replay {
  measureUnits(requests: readonly MeteredRequest[]): Promise<MeteredUnits[]>;
  close(): Promise<void>;
}

type Write = NonNullable<TransactWriteCommandInput["TransactItems"]>[number];

/**
 * DynamoDB Local reports the cost of a single write as AWS does, but only one item's cost of a transaction. So each
 * write of a transaction is done once more by itself in a second table. Within the transaction it costs twice as much in
 * the table, and the same in an index.
 */
export async function openReplay(dynamo: EmulatorAccess, tableName: string): Promise<Replay> {
  const { drop } = await makeTable(dynamo, tableName);
  const meter = newMeter();
  const client = metered(DynamoDBDocumentClient.from(new DynamoDBClient(clientSettings(dynamo))), meter);

  async function again(write: Write): Promise<MeteredUnits[]> {
    const { Put, Update, Delete, ConditionCheck } = write;
    if (Put !== undefined) await client.send(new PutCommand({ TableName: tableName, Item: Put.Item }));
    if (Delete !== undefined) await client.send(new DeleteCommand({ TableName: tableName, Key: Delete.Key }));
    if (Update !== undefined) {
      const { ConditionExpression: _, ...update } = Update;
      await client.send(new UpdateCommand({ ...withoutUnused(update), TableName: tableName }));
    }
    if (ConditionCheck !== undefined) {
      // A check costs what writing its item costs; written as it is, no index sees it.
      const { Item } = await client.send(new GetCommand({ TableName: tableName, Key: ConditionCheck.Key }));
      if (Item !== undefined) await client.send(new PutCommand({ TableName: tableName, Item }));
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
  // biome-ignore lint/plugin: The input is what the SDK was given for this very command, whose type it has.
  if (command === "TransactWriteItems") return (input as TransactWriteCommandInput).TransactItems ?? [];
  const kind = /^(Put|Update|Delete)Item$/.exec(command)?.[1];
  // biome-ignore lint/plugin: Likewise.
  return kind === undefined ? [] : [{ [kind]: input } as Write];
}

/** Names and values that only the condition used are refused without a condition. */
function withoutUnused<U extends NonNullable<Write["Update"]>>(update: Omit<U, "ConditionExpression">) {
  const { UpdateExpression = "", ExpressionAttributeNames, ExpressionAttributeValues } = update;
  const tokens = new Set(UpdateExpression.match(/[#:]\w+/g));
  const used = <T>(map: Record<string, T> | undefined): Record<string, T> | undefined => {
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
