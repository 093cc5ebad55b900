import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { ECSClient } from "@aws-sdk/client-ecs";
import { LambdaClient } from "@aws-sdk/client-lambda";
import { LambdaMicrovmsClient } from "@aws-sdk/client-lambda-microvms";
import { S3Client } from "@aws-sdk/client-s3";
import { SchedulerClient } from "@aws-sdk/client-scheduler";
import { SQSClient } from "@aws-sdk/client-sqs";
import { SSMClient } from "@aws-sdk/client-ssm";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
// By its full name, since the bundler replaces this module by that name in the local stage.
import { initialHook, type Watch } from "#shared/aws/client-hooks.ts";
import type { AnyClient } from "./middleware.ts";

/**
 * Clients of AWS, each made at its first use. Region, credentials and endpoint come from the environment. What AWS throttles, or
 * fails to do, is tried three times more: after up to 1, 2 and 4 seconds where it was throttled, and 50, 100 and 200 milliseconds
 * else, each wait a random part of that.
 */
const settings = { maxAttempts: 4, retryMode: "standard" };

let watch: Watch | undefined = initialHook;

/** Passes each client created from now on to a benchmark or test, which meters or disturbs its calls. Functions do not use it. */
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

/** Uses path style for an endpoint with an IP address, since a bucket then has no host name. */
export const s3Client = (): S3Client =>
  made(
    new S3Client({
      ...settings,
      forcePathStyle: process.env["AWS_ENDPOINT_URL"] !== undefined,
      requestChecksumCalculation: "WHEN_REQUIRED",
    }),
  );

/** Sends calls to the region's endpoint, since the address in a queue's URL may be that of an earlier emulator. */
export const sqsClient = (): SQSClient => made(new SQSClient({ ...settings, useQueueUrlAsEndpoint: false }));

export const schedulerClient = (): SchedulerClient => made(new SchedulerClient(settings));

export const ssmClient = (): SSMClient => made(new SSMClient(settings));

export const lambdaClient = (): LambdaClient => made(new LambdaClient(settings));

export const microvmsClient = (): LambdaMicrovmsClient => made(new LambdaMicrovmsClient(settings));

export const ecsClient = (): ECSClient => made(new ECSClient(settings));
