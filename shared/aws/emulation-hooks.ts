import { emulateAws, parseFaults } from "./aws-emulation.ts";
import type { Watch } from "./client-hooks.ts";

/** Replaces `client-hooks.ts` in the bundles of the local stage, so that the emulator behind each client enforces AWS's limits. */
export const initialHook: Watch = (client) => void emulateAws(client, parseFaults(process.env));
