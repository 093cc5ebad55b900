import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CreateTableCommand, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { CreateBucketCommand, type S3Client } from "@aws-sdk/client-s3";
import { emulateAws } from "#shared/aws/aws-emulation.ts";
import { setClientHook } from "#shared/aws/client-settings.ts";
import { dynamoClient } from "#shared/aws/clients.ts";
import type { DynamoClient } from "#shared/aws/dynamo-client.ts";
import { s3Client } from "#shared/aws/s3/s3-client.ts";
import { INDEXES } from "#shared/table/table.ts";
import { ACCOUNT, REGION } from "../../emulator/account.ts";
import { killEmulator, startEmulator } from "../../emulator/emulator.ts";
import type { EmulatorAccess } from "../../emulator/emulator-access.ts";
import { ensurePythonEnvironment } from "../../emulator/python-environment.ts";
import { localPaths } from "../../server/host/paths.ts";
import { firstFreePort } from "../../server/host/ports.ts";

export interface EmulatedAws {
  readonly dynamo: DynamoClient;
  readonly s3: S3Client;
  readonly access: EmulatorAccess;
  readonly stop: () => Promise<void>;
}

/** Milliseconds that a first start may take, because it creates the emulator's Python environment. */
export const EMULATOR_START_MS = 300_000;

/** Starts an empty emulator for one test. `stop` deletes everything that it has stored. */
export async function emulatedAws(): Promise<EmulatedAws> {
  const home = await mkdtemp(join(tmpdir(), "runyard-store-test-"));
  const paths = localPaths({ RUNYARD_STATE: home });
  await ensurePythonEnvironment(paths.venv, process.env["RUNYARD_PYTHON"] ?? "python3", new AbortController().signal);
  const port = await firstFreePort(20_000 + (process.pid % 20_000));
  const { endpoint, secretKey, mark, ended } = await startEmulator(paths, {
    port,
    scratch: home,
    environment: process.env,
    remember: async () => undefined,
  });
  Object.assign(process.env, {
    AWS_ENDPOINT_URL: endpoint,
    AWS_REGION: REGION,
    AWS_ACCESS_KEY_ID: ACCOUNT,
    AWS_SECRET_ACCESS_KEY: secretKey,
  });
  // The emulator enforces fewer limits than AWS does.
  setClientHook((client) => void emulateAws(client));
  return {
    dynamo: dynamoClient(),
    s3: s3Client(),
    access: { endpoint, secretKey },
    async stop() {
      killEmulator(mark);
      await ended;
      await rm(home, { recursive: true, force: true });
    },
  };
}

/** Creates a table with all indexes, as the data stack does, in the emulator that the environment names. */
export async function createTable(name: string): Promise<void> {
  const attributes = new Set(["pk", "sk", ...Object.values(INDEXES).flatMap(({ pk, sk }) => [pk, sk])]);
  await new DynamoDBClient({}).send(
    new CreateTableCommand({
      TableName: name,
      BillingMode: "PAY_PER_REQUEST",
      AttributeDefinitions: [...attributes].map((AttributeName) => ({ AttributeName, AttributeType: "S" })),
      KeySchema: keySchema("pk", "sk"),
      GlobalSecondaryIndexes: Object.entries(INDEXES).map(([IndexName, { pk, sk, carries }]) => ({
        IndexName,
        KeySchema: keySchema(pk, sk),
        Projection: { ProjectionType: "INCLUDE", NonKeyAttributes: [...carries] },
      })),
    }),
  );
}

export async function createBucket(s3: S3Client, name: string): Promise<void> {
  await s3.send(new CreateBucketCommand({ Bucket: name }));
}

const keySchema = (pk: string, sk: string) => [
  { AttributeName: pk, KeyType: "HASH" as const },
  { AttributeName: sk, KeyType: "RANGE" as const },
];
