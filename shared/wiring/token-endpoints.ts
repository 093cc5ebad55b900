import * as v from "valibot";
import type { TokenEndpoints } from "#shared/secrets/renew-secret.ts";
import { RenewalResult } from "#shared/secrets/renewal-grant.ts";
import { setting } from "#shared/settings.ts";
import { createFunctionCaller } from "./adapters.ts";

/** Milliseconds that a call of the function which calls other systems may take. */
const CALL_MS = 15_000;

/** Calls token endpoints by the function that calls other systems. */
export function createTokenEndpoints(): TokenEndpoints {
  const callFunction = createFunctionCaller();
  return {
    async renew(request) {
      const options = { timeoutMs: CALL_MS };
      return v.parse(
        RenewalResult,
        await callFunction(setting("CALL_SYSTEMS_FUNCTION_NAME"), { v: 1, request }, options),
      );
    },
  };
}
