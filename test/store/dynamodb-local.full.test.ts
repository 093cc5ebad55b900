import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { dynamoClient } from "#shared/aws/clients.ts";
import { dynamoTable } from "#shared/aws/dynamo-table.ts";
import { ACCOUNT, REGION } from "../../emulator/account.ts";
import { type DynamoDbLocal, startDynamoDbLocal } from "../../scripts/dynamodb-local.ts";
import { ACCEPTED_REQUESTS, REFUSED_REQUESTS, TableName } from "../support/dynamo-limit-cases.ts";
import { createTable, EMULATOR_START_MS } from "../support/emulator.ts";
import { tableContract } from "./table-contract.ts";

let dynamo: DynamoDBDocumentClient;
let local: DynamoDbLocal | undefined;
beforeAll(async () => {
  const started = await startDynamoDbLocal();
  if ("missing" in started) throw new Error(`DynamoDB Local needs ${started.missing}`);
  local = started;
  Object.assign(process.env, {
    AWS_ENDPOINT_URL: started.endpoint,
    AWS_REGION: REGION,
    AWS_ACCESS_KEY_ID: ACCOUNT,
    AWS_SECRET_ACCESS_KEY: started.secretKey,
  });
  dynamo = DynamoDBDocumentClient.from(new DynamoDBClient({}));
  await createTable("contract");
  await createTable(TableName);
}, EMULATOR_START_MS);
afterAll(() => local?.stop());

describe("the table on DynamoDB Local", () => {
  tableContract(() => dynamoTable(dynamoClient(), "contract"));

  it("executes a transaction once whose first response is lost", async () => {
    const client = dynamoClient();
    const { requestHandler } = client.config;
    let requests = 0;
    client.config.requestHandler = {
      async handle(request) {
        const reply = await requestHandler.handle(request);
        if (++requests === 1) throw Object.assign(new Error("socket hang up"), { name: "TimeoutError" });
        return reply;
      },
    };
    const item = { pk: "LOST", sk: "RESPONSE" };
    await dynamoTable(client, "contract").transact([{ kind: "put", item, if: { pk: { exists: false } } }]);
    expect(requests).toBe(2);
  });
});

describe("DynamoDB Local, like the emulated limits,", () => {
  it.each(REFUSED_REQUESTS)("rejects %s", async (_, send) => {
    await expect(send(dynamo)).rejects.toMatchObject({ $fault: "client", $metadata: { httpStatusCode: 400 } });
  });

  it.each(ACCEPTED_REQUESTS)("accepts %s", async (_, send) => {
    await expect(send(dynamo)).resolves.toBeDefined();
  });
});
