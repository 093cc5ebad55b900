import * as v from "valibot";
import { PageInfo } from "./list.ts";
import { textOfBytes } from "./primitives.ts";

/** The name by which configurations refer to a secret. */
export const SecretName = v.pipe(
  v.string(),
  v.regex(/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/, "must match [A-Za-z0-9_][A-Za-z0-9_.-]{0,127}"),
);

export const CreateSecretRequest = v.object({ name: SecretName, value: textOfBytes(4096, 1) });
export type CreateSecretRequest = v.InferOutput<typeof CreateSecretRequest>;

/** A secret as answers show it: never its value. */
export const SecretItem = v.object({
  name: v.string(),
  created_at: v.string(),
  scope: v.object({ type: v.literal("Team"), uid: v.string() }),
});
export type SecretItem = v.InferOutput<typeof SecretItem>;

export const ListSecretsResponse = v.object({ secrets: v.array(SecretItem), page_info: v.exactOptional(PageInfo) });
