import * as v from "valibot";

/** .runyard/local.json: where the local cloud is and the key to it. */
export const LocalFile = v.object({
  base_url: v.string(),
  api_key: v.string(),
  ws_url: v.exactOptional(v.string()),
  web_url: v.exactOptional(v.string()),
  team_uid: v.string(),
  /** The emulator that stands in for AWS, for direct access without the proxy. */
  emulator_url: v.string(),
  /** The secret access key that the emulator of this start demands. @default that of a start before there was one, which opens nothing */
  emulator_key: v.optional(v.string(), ""),
  /** The process of `npm run emulator` that serves it, which may have ended. */
  pid: v.number(),
});
export type LocalFile = v.InferOutput<typeof LocalFile>;

/** What fixtures need of local.json, which the single machine writes as well. */
export const Installation = v.object({ base_url: v.string(), api_key: v.string(), team_uid: v.string() });
export type Installation = v.InferOutput<typeof Installation>;
