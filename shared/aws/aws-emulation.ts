import { logLine } from "#shared/log/log.ts";
import { type AwsFault, type Faults, plannedFaults, toServiceError } from "./aws-faults.ts";
import { findRefusal, toSizeError } from "./aws-limits.ts";
import { type HttpCall, readResponse, toHttpCall, toResponse } from "./http-codec.ts";
import { type AnyClient, addMiddleware, commandOf, serviceOf } from "./middleware.ts";

/**
 * Makes a client's calls end as they would on AWS where an emulator answers them: what is larger than AWS takes is refused, and
 * by `faults` now and then a call is throttled, late, lost on its way back, or done twice. All of it happens next to the wire,
 * so the exceptions are the SDK's own, and it is the SDK that repeats what may be repeated. Nothing of this is in the functions
 * that are deployed to AWS: only the bundles of the local stage have it, and tests.
 */
export function emulateAws<C extends AnyClient>(client: C, faults?: Faults, told = logged): C {
  addMiddleware(
    client,
    { step: "deserialize", priority: "low", name: "emulateAws" },
    (next, context) => async (args) => {
      const call = toHttpCall(serviceOf(context), commandOf(context), args.request);
      const refusal = findRefusal(call);
      if (refusal !== undefined) return { response: toResponse(call.service, refusal) };
      const send = async (): Promise<unknown> => (await next(args)).response;
      const fault = faults?.next(call);
      if (fault !== undefined) told(fault, call);
      const error = fault === undefined ? undefined : toServiceError(fault, call);
      if (error !== undefined) return { response: toResponse(call.service, error) };
      const response = faults === undefined ? await send() : await faults.make(fault, call, send);
      if (call.service !== "Lambda") return { response };
      const result = await readResponse(response);
      return { response: toSizeError(call, result.body.length) ?? result };
    },
  );
  return client;
}

function logged(fault: AwsFault, { service, command }: HttpCall): void {
  logLine("info", "fault injected", { fault, call: `${service}.${command}` });
}

/** The faults that `RUNYARD_FAULTS` asks for, if it does: a seed, or `seed/percent` of calls. */
export function parseFaults(environment: NodeJS.ProcessEnv): Faults | undefined {
  const setting = environment["RUNYARD_FAULTS"];
  if (setting === undefined || setting === "") return undefined;
  return plannedFaults(setting, environment["AWS_LAMBDA_FUNCTION_NAME"] ?? "");
}
