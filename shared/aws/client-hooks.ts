import type { AnyClient } from "./middleware.ts";

/** Sees each new client before its first call. */
export type Watch = (client: AnyClient) => void;

/** Hooks that see each client from its creation: none. The bundles of the local stage have `emulation-hooks.ts` in this file's place. */
export const initialHook: Watch | undefined = undefined;
