import { logLine } from "#shared/log/log.ts";
import { type AwsFault, type Faults, plannedFaults, toServiceError } from "./aws-faults.ts";
import { findRefusal, toSizeError } from "./aws-limits.ts";
import { type HttpCall, readResponse, toHttpCall, toResponse } from "./http-codec.ts";
import { type AnyClient, addMiddleware, commandOf, serviceOf } from "./middleware.ts";

/**
 * Makes calls to an emulator behave as on AWS: requests above AWS's size limits are refused, and `faults` throttles, delays,
 * loses or repeats some calls. The middleware runs next to the network, so exceptions and retries are the SDK's own. Only tests
 * and the bundles of the local stage contain it, never the functions that are deployed to AWS.
 */
export function emulateAws<C extends AnyClient>(client: C, faults?: Faults, report = logged): C {
  addMiddleware(
    client,
    { step: "deserialize", priority: "low", name: "emulateAws" },
    (next, context) => async (args) => {
      const call = toHttpCall(serviceOf(context), commandOf(context), args.request);
      const refusal = findRefusal(call);
      if (refusal !== undefined) return { response: toResponse(call.service, refusal) };
      const send = async (): Promise<unknown> => (await next(args)).response;
      const fault = faults?.next(call);
      if (fault !== undefined) report(fault, call);
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

/** Parses `RUNYARD_FAULTS`: a seed, or `seed/percent` of calls. Undefined if it is not set. */
export function parseFaults(environment: NodeJS.ProcessEnv): Faults | undefined {
  const setting = environment["RUNYARD_FAULTS"];
  if (setting === undefined || setting === "") return undefined;
  return plannedFaults(setting, environment["AWS_LAMBDA_FUNCTION_NAME"] ?? "");
}
