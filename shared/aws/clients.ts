import { ECSClient } from "@aws-sdk/client-ecs";
import { LambdaClient } from "@aws-sdk/client-lambda";
import { LambdaMicrovmsClient } from "@aws-sdk/client-lambda-microvms";
import { SSMClient } from "@aws-sdk/client-ssm";
import { FUNCTION_SILENCE_MS, hooked, limitSilence, settings, workSettings } from "./client-settings.ts";
import { DynamoClient } from "./dynamo-client.ts";

// AWS clients, each created at its first use. Those in parts of the bundle have their own files.
export const dynamoClient = (): DynamoClient => hooked(new DynamoClient({ maxAttempts: settings.maxAttempts }));

export const ssmClient = (): SSMClient => hooked(new SSMClient(settings));

/** The client for asynchronous invocations, which Lambda accepts before the function runs. */
export const lambdaClient = (): LambdaClient => hooked(new LambdaClient(settings));

/** The client for invocations whose result is waited for. */
export const waitingLambdaClient = (): LambdaClient =>
  hooked(new LambdaClient({ ...settings, requestHandler: limitSilence(FUNCTION_SILENCE_MS) }));

export const microvmsClient = (): LambdaMicrovmsClient => hooked(new LambdaMicrovmsClient(workSettings));

export const ecsClient = (): ECSClient => hooked(new ECSClient(workSettings));
