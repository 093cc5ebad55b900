import { InvokeCommand, type LambdaClient } from "@aws-sdk/client-lambda";
import { type Sandbox, StartDeferred } from "#shared/sandbox/sandbox.ts";

/** Creates sandboxes that are Lambda functions: one asynchronous invocation for each execution, isolated by tenant where the function is. */
export function lambdaSandbox(
  client: LambdaClient,
  functionName: () => string,
  hasTenants: () => boolean = () => true,
): Sandbox {
  return {
    async start(envelope) {
      try {
        await client.send(
          new InvokeCommand({
            FunctionName: functionName(),
            InvocationType: "Event",
            ...(hasTenants() && { TenantId: envelope.execution_id }),
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
    // An invocation cannot be stopped: its harness stops after its next call, or the function times out.
    stop: async () => false,
  };
}

const DEFERRED: ReadonlySet<string> = new Set([
  "TooManyRequestsException",
  "ServiceException",
  "EC2ThrottledException",
  // Lambda loads the code of a function that was idle for weeks again, and refuses invocations meanwhile.
  "ResourceNotReadyException",
  "ResourceConflictException",
  "CodeArtifactUserPendingException",
]);
