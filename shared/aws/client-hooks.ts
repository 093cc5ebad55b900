import type { AnyClient } from "./middleware.ts";

/** Sees each new client before its first call. */
export type Watch = (client: AnyClient) => void;

/** Who sees each client from the beginning: nobody. The bundles of the local stage have `local-watch.ts` in this file's place. */
export const initialHook: Watch | undefined = undefined;
