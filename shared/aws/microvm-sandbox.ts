import {
  GetMicrovmCommand,
  type LambdaMicrovmsClient,
  RunMicrovmCommand,
  TerminateMicrovmCommand,
} from "@aws-sdk/client-lambda-microvms";
import { type Sandbox, StartDeferred } from "#shared/sandbox/sandbox.ts";

/** Seconds that a MicroVM may live, the most that AWS gives one: https://docs.aws.amazon.com/lambda/latest/microvm-api/API_RunMicrovm.html */
export const MICROVM_SECONDS = 28_800;
/** Milliseconds before the end of the MicroVM at which the harness must finish. */
const MARGIN_MS = 60_000;

export interface MicrovmSettings {
  /** ARN of the image of the MicroVMs. */
  readonly imageArn: () => string;
  /** The region of their network connectors. */
  readonly region: () => string;
  readonly now: () => number;
}

/**
 * Creates sandboxes that are Firecracker virtual machines, one for each execution. They have no role, so no credentials, and
 * accept no inbound traffic. They only make calls, so a lack of inbound calls must never suspend them.
 */
export function microvmSandbox(client: LambdaMicrovmsClient, { imageArn, region, now }: MicrovmSettings): Sandbox {
  const connector = (name: string) =>
    `arn:${toPartition(region())}:lambda:${region()}:aws:network-connector:aws-network-connector:${name}`;
  return {
    async start(envelope) {
      const deadline = now() + MICROVM_SECONDS * 1000 - MARGIN_MS;
      const command = new RunMicrovmCommand({
        imageIdentifier: imageArn(),
        clientToken: envelope.execution_id,
        runHookPayload: JSON.stringify({ ...envelope, deadline_at: deadline }),
        maximumDurationInSeconds: MICROVM_SECONDS,
        ingressNetworkConnectors: [connector("NO_INGRESS")],
        egressNetworkConnectors: [connector("INTERNET_EGRESS")],
        // Without a role, the MicroVM cannot write a log; the timeline of the run shows what happened.
        logging: { disabled: {} },
      });
      try {
        const { microvmId } = await client.send(command);
        return microvmId;
      } catch (error) {
        if (error instanceof Error && DEFERRED.has(error.name)) {
          throw new StartDeferred(error.message, { cause: error });
        }
        throw error;
      }
    },

    async stop({ handle }) {
      // Its id is unknown. It ends by itself, because its key is revoked, or at its time limit.
      if (handle === undefined) return false;
      const named = { microvmIdentifier: handle };
      try {
        await client.send(new TerminateMicrovmCommand(named));
        const { state } = await client.send(new GetMicrovmCommand(named));
        return state === "TERMINATED";
      } catch (error) {
        if (!(error instanceof Error)) throw error;
        if (error.name === "ResourceNotFoundException") return true;
        // The MicroVM is changing its state.
        if (error.name === "ConflictException") return false;
        throw error;
      }
    },
  };
}

/** A conflict means that the image is being replaced, or that the name was used before; a new execution has a new name. */
const DEFERRED: ReadonlySet<string> = new Set([
  "ThrottlingException",
  "TooManyRequestsException",
  "InsufficientCapacityException",
  "ServiceQuotaExceededException",
  "ConflictException",
  "InternalServerException",
  "ServiceException",
]);

/** The partition that a region belongs to, which begins the ARNs of what is in it. */
function toPartition(region: string): string {
  if (region.startsWith("cn-")) return "aws-cn";
  return region.startsWith("us-gov-") ? "aws-us-gov" : "aws";
}
