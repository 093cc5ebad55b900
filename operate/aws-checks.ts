import {
  BedrockRuntimeClient,
  type BedrockRuntimeClientConfig,
  InvokeModelCommand,
} from "@aws-sdk/client-bedrock-runtime";
import { GetAccountSettingsCommand, LambdaClient, type LambdaClientConfig } from "@aws-sdk/client-lambda";
import { NodeHttpHandler } from "@smithy/node-http-handler";
import { findBedrockRemedy } from "#shared/model-provider/bedrock-remedies.ts";
import { type Check, failed, ok, warning } from "../server/doctor/check.ts";

/** Concurrent executions below which a deployment executes few runs at the same time. */
const ENOUGH_EXECUTIONS = 1_000;
const TIMEOUT_MS = 60_000;

/** The account's quota of concurrent executions of Lambda. */
export async function checkConcurrency(config: LambdaClientConfig = {}): Promise<Check> {
  const name = "lambda";
  const client = new LambdaClient(config);
  try {
    const { AccountLimit } = await client.send(new GetAccountSettingsCommand({}), deadline());
    const quota = AccountLimit?.ConcurrentExecutions ?? 0;
    const detail = `${quota} concurrent executions`;
    if (quota >= ENOUGH_EXECUTIONS) return ok(name, detail);
    return warning(name, detail, `Request ${ENOUGH_EXECUTIONS}: Service Quotas, AWS Lambda, "Concurrent executions".`);
  } catch (error) {
    return failed(name, describe(error), "Check the credentials, the region and the right lambda:GetAccountSettings.");
  } finally {
    client.destroy();
  }
}

/** Calls a model of Amazon Bedrock once, with the shortest response. */
export async function checkBedrock(model: string, config: BedrockRuntimeClientConfig = {}): Promise<Check> {
  const name = "bedrock";
  const client = new BedrockRuntimeClient({ maxAttempts: 1, requestHandler: new NodeHttpHandler(), ...config });
  const body = {
    anthropic_version: "bedrock-2023-05-31",
    max_tokens: 1,
    messages: [{ role: "user", content: "Reply with OK." }],
  };
  const type = "application/json";
  const began = performance.now();
  try {
    const input = { modelId: model, contentType: type, accept: type, body: JSON.stringify(body) };
    await client.send(new InvokeModelCommand(input), deadline());
    return ok(name, `${model} responded after ${Math.round(performance.now() - began)} ms`);
  } catch (error) {
    const remedy = error instanceof Error ? findBedrockRemedy(error) : undefined;
    return failed(name, `${model}: ${describe(error)}`, remedy ?? "Check the credentials, the region and the network.");
  } finally {
    client.destroy();
  }
}

const deadline = () => ({ abortSignal: AbortSignal.timeout(TIMEOUT_MS) });

const describe = (error: unknown): string =>
  error instanceof Error ? `${error.name}: ${error.message}` : String(error);
