import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { LambdaClient } from "@aws-sdk/client-lambda";
import { S3Client } from "@aws-sdk/client-s3";
import { SchedulerClient } from "@aws-sdk/client-scheduler";
import { SQSClient } from "@aws-sdk/client-sqs";
import { SSMClient } from "@aws-sdk/client-ssm";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";

/** Clients of AWS, each made at its first use. Region, credentials and endpoint come from the environment. */
const settings = { maxAttempts: 4 };

type Watch = (client: { readonly middlewareStack: object }) => void;
let watch: Watch | undefined;

/** Shows each client made from now on to a benchmark or a test, which meters what it calls. No function of ours does. */
export function watchClients(watcher: Watch | undefined): void {
  watch = watcher;
}

function made<C extends { readonly middlewareStack: object }>(client: C): C {
  watch?.(client);
  return client;
}

export const dynamoClient = (): DynamoDBDocumentClient =>
  made(
    DynamoDBDocumentClient.from(new DynamoDBClient(settings), {
      marshallOptions: { removeUndefinedValues: true, convertTopLevelContainer: true },
    }),
  );

/** Path style where an endpoint is given by address, since no host name then leads to a bucket. */
export const s3Client = (): S3Client =>
  made(
    new S3Client({
      ...settings,
      forcePathStyle: process.env["AWS_ENDPOINT_URL"] !== undefined,
      requestChecksumCalculation: "WHEN_REQUIRED",
    }),
  );

/** Calls go to the region's endpoint: an address inside a queue's URL may be older than the emulator that answers now. */
export const sqsClient = (): SQSClient => made(new SQSClient({ ...settings, useQueueUrlAsEndpoint: false }));

export const schedulerClient = (): SchedulerClient => made(new SchedulerClient(settings));

export const ssmClient = (): SSMClient => made(new SSMClient(settings));

export const lambdaClient = (): LambdaClient => made(new LambdaClient(settings));
