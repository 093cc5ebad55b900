import type { AnyClient } from "./middleware.ts";

/** Sees each new client before its first call. */
export type Watch = (client: AnyClient) => void;

/** The hooks of new clients: none. In the bundles of the local stage, `emulation-hooks.ts` replaces this file. */
export const initialHook: Watch | undefined = undefined;
