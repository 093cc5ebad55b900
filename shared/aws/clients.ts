import { ECSClient } from "@aws-sdk/client-ecs";
import { LambdaClient } from "@aws-sdk/client-lambda";
import { LambdaMicrovmsClient } from "@aws-sdk/client-lambda-microvms";
import { SSMClient } from "@aws-sdk/client-ssm";
import { hooked, settings } from "./client-settings.ts";
import { DynamoClient } from "./dynamo-client.ts";

// Clients of AWS, each made at its first use. Those of parts that the bundler makes have files of their own.
export const dynamoClient = (): DynamoClient => hooked(new DynamoClient({ maxAttempts: settings.maxAttempts }));

export const ssmClient = (): SSMClient => hooked(new SSMClient(settings));

export const lambdaClient = (): LambdaClient => hooked(new LambdaClient(settings));

export const microvmsClient = (): LambdaMicrovmsClient => hooked(new LambdaMicrovmsClient(settings));

export const ecsClient = (): ECSClient => hooked(new ECSClient(settings));
