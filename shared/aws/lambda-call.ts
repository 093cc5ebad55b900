import { InvokeCommand, type LambdaClient } from "@aws-sdk/client-lambda";
import { randomId } from "#shared/ids.ts";

interface CallOptions {
  /** Milliseconds after which the call times out. */
  readonly timeoutMs: number;
  /** True if the function isolates tenants, so that this call gets a separate environment. @default false */
  readonly isolated?: boolean;
}

/** Calls a function and resolves with its result. Throws if it fails or times out. */
export async function callFunction(
  client: LambdaClient,
  functionName: string,
  event: unknown,
  { timeoutMs, isolated = false }: CallOptions,
): Promise<unknown> {
  const command = new InvokeCommand({
    FunctionName: functionName,
    InvocationType: "RequestResponse",
    Payload: JSON.stringify(event),
    ...(isolated ? { TenantId: randomId() } : {}),
  });
  const { Payload, FunctionError } = await client.send(command, { abortSignal: AbortSignal.timeout(timeoutMs) });
  if (FunctionError !== undefined) throw new Error(`${functionName} failed: ${FunctionError}`);
  const text = Buffer.from(Payload ?? []).toString();
  return text === "" ? undefined : JSON.parse(text);
}
