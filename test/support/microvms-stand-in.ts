import { isRecord } from "./aws-model.ts";
import { Refusal, type Request, startService } from "./aws-server.ts";

interface Machine {
  state: string;
  readonly response: Readonly<Record<string, unknown>>;
}

/** Looks that it takes a MicroVM to go. */
const LOOKS_UNTIL_GONE = 1;

/**
 * The API of Lambda MicroVMs: https://docs.aws.amazon.com/lambda/latest/microvm-api/. Starts are idempotent by their token, a token
 * with another request is a conflict, and a machine that is ended takes a moment to go.
 */
export async function startMicrovms() {
  const machines = new Map<string, Machine>();
  const tokens = new Map<string, { readonly request: string; readonly id: string }>();
  const leaving = new Map<string, number>();

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
        machines.set(id, { state: "RUNNING", response: response });
        tokens.set(String(input["clientToken"]), { request, id });
        return response;
      },
      TerminateMicrovm(input) {
        const id = String(input["microvmIdentifier"]);
        const machine = findMachine(id);
        if (machine.state === "RUNNING") {
          machine.state = "TERMINATING";
          leaving.set(id, LOOKS_UNTIL_GONE);
        }
        return {};
      },
      GetMicrovm(input) {
        const id = String(input["microvmIdentifier"]);
        const machine = findMachine(id);
        const looks = leaving.get(id) ?? 0;
        if (machine.state === "TERMINATING" && looks === 0) machine.state = "TERMINATED";
        leaving.set(id, Math.max(0, looks - 1));
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

/** What the model of the SDK does not say, and the reference of the API does. */
function findLimits({ operation, input }: Request): string[] {
  if (operation !== "RunMicrovm") return [];
  const { clientToken, runHookPayload, maximumDurationInSeconds, imageIdentifier, idlePolicy } = input;
  const seconds = Number(maximumDurationInSeconds);
  return [
    ...(/^[\x21-\x7e]{1,128}$/.test(String(clientToken)) ? [] : ["clientToken must have 1 to 128 characters"]),
    // The reference says 16,384; some regions were seen to take no more than this.
    ...(Buffer.byteLength(String(runHookPayload ?? "")) <= 4096 ? [] : ["runHookPayload is too long"]),
    ...(seconds >= 1 && seconds <= 28_800 ? [] : ["maximumDurationInSeconds must be 1 to 28800"]),
    ...(/^arn:aws:lambda:[a-z0-9-]+:\d{12}:microvm-image:[\w-]+$/.test(String(imageIdentifier))
      ? []
      : ["imageIdentifier must be the ARN of an image"]),
    ...(idlePolicy === undefined || isRecord(idlePolicy) ? [] : ["idlePolicy must be an object"]),
  ];
}
