import { emulateAws, faultsAsked } from "./aws-emulation.ts";
import type { Watch } from "./client-hooks.ts";

/** In place of `client-watch.ts` in the bundles of the local stage: the emulator behind each client keeps to AWS's limits. */
export const initialHook: Watch = (client) => void emulateAws(client, faultsAsked(process.env));
