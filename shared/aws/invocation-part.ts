import { InvokeCommand, type LambdaClient } from "@aws-sdk/client-lambda";
import { randomId } from "#shared/ids.ts";
import { waitingLambdaClient } from "./clients.ts";

/** Calls a function and resolves with its result, or with nothing if the call does not wait for it. Throws if it fails or times out. */
export type FunctionCaller = (functionName: string, event: unknown, options: CallOptions) => Promise<unknown>;

interface CallOptions {
  /** Milliseconds after which the call times out. */
  readonly timeoutMs: number;
  /** True if the function isolates tenants, so that this call gets a separate environment. @default false */
  readonly isolated?: boolean;
  /** False if Lambda invokes the function later. @default true */
  readonly waits?: boolean;
}

/** Calls of functions, with the client. The bundler makes it a part that is loaded by its first use; see infra/bundle-parts.ts. */
export function openFunctionCaller(): FunctionCaller {
  const client = waitingLambdaClient();
  return (functionName, event, options) => callFunction(client, functionName, event, options);
}

async function callFunction(
  client: LambdaClient,
  functionName: string,
  event: unknown,
  { timeoutMs, isolated = false, waits = true }: CallOptions,
): Promise<unknown> {
  const command = new InvokeCommand({
    FunctionName: functionName,
    InvocationType: waits ? "RequestResponse" : "Event",
    Payload: JSON.stringify(event),
    ...(isolated ? { TenantId: randomId() } : {}),
  });
  const { Payload, FunctionError } = await client.send(command, { abortSignal: AbortSignal.timeout(timeoutMs) });
  if (FunctionError !== undefined) throw new Error(`${functionName} failed: ${FunctionError}`);
  const text = Buffer.from(Payload ?? []).toString();
  return text === "" ? undefined : JSON.parse(text);
}
