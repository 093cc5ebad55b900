import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DeleteTableCommand,
  DynamoDBClient,
  type KeySchemaElement,
} from "@aws-sdk/client-dynamodb";
import { clientSettings, type EmulatorAccess } from "../../emulator/emulator-access.ts";
import { INDEXES } from "../../shared/table/table.ts";

/** Makes a table as the data stack does. */
export async function makeTable(dynamo: EmulatorAccess, name: string): Promise<{ drop: () => Promise<void> }> {
  const client = new DynamoDBClient(clientSettings(dynamo));
  await client.send(new CreateTableCommand(tableInput(name)));
  return {
    drop: async () => {
      await client.send(new DeleteTableCommand({ TableName: name }));
      client.destroy();
    },
  };
}

function tableInput(name: string): CreateTableCommandInput {
  const names = new Set(["pk", "sk", ...Object.values(INDEXES).flatMap(({ pk, sk }) => [pk, sk])]);
  return {
    TableName: name,
    BillingMode: "PAY_PER_REQUEST",
    KeySchema: keySchema("pk", "sk"),
    AttributeDefinitions: [...names].map((AttributeName) => ({ AttributeName, AttributeType: "S" })),
    GlobalSecondaryIndexes: Object.entries(INDEXES).map(([IndexName, { pk, sk, carries }]) => ({
      IndexName,
      KeySchema: keySchema(pk, sk),
      Projection: { ProjectionType: "INCLUDE", NonKeyAttributes: [...carries] },
    })),
  };
}

const keySchema = (partition: string, sort: string): KeySchemaElement[] => [
  { AttributeName: partition, KeyType: "HASH" },
  { AttributeName: sort, KeyType: "RANGE" },
];
