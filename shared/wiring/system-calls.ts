import * as v from "valibot";
import { setting } from "#shared/settings.ts";
import { SystemResult, type Systems } from "#shared/triggers/systems/system-request.ts";
import { createFunctionCaller } from "#shared/wiring/adapters.ts";

/** Milliseconds that a call of the function which calls other systems may take, and a push, which sends objects. */
const SYSTEM_CALL_MS = 15_000;
const PUSH_MS = 28_000;

/** Calls other systems by the function that does. */
export function createSystems(): Systems {
  const callFunction = createFunctionCaller();
  return {
    async call(request) {
      const options = { timeoutMs: request.action === "push_branch" ? PUSH_MS : SYSTEM_CALL_MS };
      return v.parse(
        SystemResult,
        await callFunction(setting("CALL_SYSTEMS_FUNCTION_NAME"), { v: 1, request }, options),
      );
    },
  };
}
