import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { ECSClient } from "@aws-sdk/client-ecs";
import { LambdaClient } from "@aws-sdk/client-lambda";
import { LambdaMicrovmsClient } from "@aws-sdk/client-lambda-microvms";
import { S3Client } from "@aws-sdk/client-s3";
import { SchedulerClient } from "@aws-sdk/client-scheduler";
import { SQSClient } from "@aws-sdk/client-sqs";
import { SSMClient } from "@aws-sdk/client-ssm";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { initialHook, type Watch } from "./client-hooks.ts";
import type { AnyClient } from "./middleware.ts";

/**
 * Clients of AWS, each made at its first use. Region, credentials and endpoint come from the environment. What AWS throttles, or
 * fails to do, is tried three times more: after up to 1, 2 and 4 seconds where it was throttled, and 50, 100 and 200 milliseconds
 * else, each wait a random part of that.
 */
const settings = { maxAttempts: 4, retryMode: "standard" };

let watch: Watch | undefined = initialHook;

/** Shows each client made from now on to a benchmark or a test, which meters or disturbs what it calls. No function of ours does. */
export function setClientHook(watcher: Watch | undefined): void {
  watch = watcher;
}

function made<C extends AnyClient>(client: C): C {
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

export const microvmsClient = (): LambdaMicrovmsClient => made(new LambdaMicrovmsClient(settings));

export const ecsClient = (): ECSClient => made(new ECSClient(settings));
