import { InvokeCommand, type LambdaClient } from "@aws-sdk/client-lambda";
import { type Sandbox, StartDeferred } from "#shared/sandbox/sandbox.ts";

/** Sandboxes that are Lambda functions: one asynchronous invocation an execution, isolated by tenant. */
export function lambdaSandbox(client: LambdaClient, functionName: () => string): Sandbox {
  return {
    async start(envelope) {
      try {
        await client.send(
          new InvokeCommand({
            FunctionName: functionName(),
            InvocationType: "Event",
            TenantId: envelope.execution_id,
            Payload: JSON.stringify(envelope),
          }),
        );
      } catch (error) {
        if (error instanceof Error && DEFERRED.has(error.name))
          throw new StartDeferred(error.message, { cause: error });
        throw error;
      }
      return undefined;
    },
    // Nothing ends an invocation from outside: its harness is asked to by its next call, and its time ends it at last.
    stop: async () => false,
  };
}

const DEFERRED: ReadonlySet<string> = new Set([
  "TooManyRequestsException",
  "ServiceException",
  "EC2ThrottledException",
]);
