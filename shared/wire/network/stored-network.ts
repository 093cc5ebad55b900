import * as v from "valibot";

/** The network of an environment that limits it. */
export const StoredNetwork = v.object({
  /** `open` (everything), `allowlist` (the `domains`) or `none`. */
  mode: v.picklist(["open", "allowlist", "none"]),
  /** The domains of the mode `allowlist`. */
  domains: v.exactOptional(v.array(v.string())),
});
export type StoredNetwork = v.InferOutput<typeof StoredNetwork>;
