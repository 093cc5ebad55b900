import { isRecord } from "./aws-model.ts";
import { Refusal, type Request, startService } from "./aws-server.ts";

interface Machine {
  state: string;
  readonly response: Readonly<Record<string, unknown>>;
}

/** Reads until a terminating MicroVM is terminated. */
const READS_UNTIL_TERMINATED = 1;

/**
 * The API of Lambda MicroVMs: https://docs.aws.amazon.com/lambda/latest/microvm-api/. Starts are idempotent by their token.
 * A token with another request is a conflict. A machine terminates some time after the request.
 */
export async function startMicrovms() {
  const machines = new Map<string, Machine>();
  const tokens = new Map<string, { readonly request: string; readonly id: string }>();
  const terminating = new Map<string, number>();

  const service = await startService(
    "microvms",
    {
      RunMicrovm(input) {
        const request = JSON.stringify(input);
        const known = tokens.get(String(input["clientToken"]));
        if (known !== undefined && known.request !== request) {
          throw new Refusal("ConflictException", "the client token was used with another request", 409);
        }
        const before = known && machines.get(known.id)?.response;
        if (before !== undefined) return before;
        const id = `mvm-${machines.size + 1}`;
        const response = {
          microvmId: id,
          state: "PENDING",
          endpoint: `https://${id}.example`,
          imageArn: input["imageIdentifier"],
          imageVersion: "1.0",
          maximumDurationInSeconds: input["maximumDurationInSeconds"],
          startedAt: 1_779_130_800,
        };
        machines.set(id, { state: "RUNNING", response });
        tokens.set(String(input["clientToken"]), { request, id });
        return response;
      },
      TerminateMicrovm(input) {
        const id = String(input["microvmIdentifier"]);
        const machine = findMachine(id);
        if (machine.state === "RUNNING") {
          machine.state = "TERMINATING";
          terminating.set(id, READS_UNTIL_TERMINATED);
        }
        return {};
      },
      GetMicrovm(input) {
        const id = String(input["microvmIdentifier"]);
        const machine = findMachine(id);
        const reads = terminating.get(id) ?? 0;
        if (machine.state === "TERMINATING" && reads === 0) machine.state = "TERMINATED";
        terminating.set(id, Math.max(0, reads - 1));
        return { ...machine.response, state: machine.state };
      },
    },
    findLimits,
  );

  function findMachine(id: string): Machine {
    const machine = machines.get(id);
    if (machine === undefined) throw new Refusal("ResourceNotFoundException", `there is no MicroVM ${id}`, 404);
    return machine;
  }

  return { ...service, machines };
}

/** Checks the limits that are in the API reference and not in the SDK's model. */
function findLimits({ operation, input }: Request): string[] {
  if (operation !== "RunMicrovm") return [];
  const { clientToken, runHookPayload, maximumDurationInSeconds, imageIdentifier, idlePolicy } = input;
  const seconds = Number(maximumDurationInSeconds);
  return [
    ...(/^[\x21-\x7e]{1,128}$/.test(String(clientToken)) ? [] : ["clientToken must have 1 to 128 characters"]),
    // The reference says 16,384, but some regions accept no more than this.
    ...(Buffer.byteLength(String(runHookPayload ?? "")) <= 4096 ? [] : ["runHookPayload is too long"]),
    ...(seconds >= 1 && seconds <= 28_800 ? [] : ["maximumDurationInSeconds must be 1 to 28800"]),
    ...(/^arn:aws:lambda:[a-z0-9-]+:\d{12}:microvm-image:[\w-]+$/.test(String(imageIdentifier))
      ? []
      : ["imageIdentifier must be the ARN of an image"]),
    ...(idlePolicy === undefined || isRecord(idlePolicy) ? [] : ["idlePolicy must be an object"]),
  ];
}
