import { ECSClient } from "@aws-sdk/client-ecs";
import { LambdaClient } from "@aws-sdk/client-lambda";
import { LambdaMicrovmsClient } from "@aws-sdk/client-lambda-microvms";
import { SSMClient } from "@aws-sdk/client-ssm";
import { hooked, settings } from "./client-settings.ts";
import { DynamoClient } from "./dynamo-client.ts";

// AWS clients, each created at its first use. Those in parts of the bundle have their own files.
export const dynamoClient = (): DynamoClient => hooked(new DynamoClient({ maxAttempts: settings.maxAttempts }));

export const ssmClient = (): SSMClient => hooked(new SSMClient(settings));

export const lambdaClient = (): LambdaClient => hooked(new LambdaClient(settings));

export const microvmsClient = (): LambdaMicrovmsClient => hooked(new LambdaMicrovmsClient(settings));

export const ecsClient = (): ECSClient => hooked(new ECSClient(settings));
