import { asOnAws, faultsAsked } from "./as-on-aws.ts";
import type { Watch } from "./client-watch.ts";

/** In place of `client-watch.ts` in the bundles of the local stage: the emulator behind each client keeps to AWS's limits. */
export const firstWatch: Watch = (client) => void asOnAws(client, faultsAsked(process.env));
