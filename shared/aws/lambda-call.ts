import { InvokeCommand, type LambdaClient } from "@aws-sdk/client-lambda";
import { randomId } from "#shared/ids.ts";

interface CallOptions {
  /** Milliseconds after which the answer is not waited for any more. */
  readonly timeoutMs: number;
  /** Whether the function isolates tenants: this call then gets an environment of its own. @default false */
  readonly isolated?: boolean;
}

/** Calls a function and waits for what it answers. Throws where it fails or takes too long. */
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
