import * as v from "valibot";
import { PageInfo } from "../list.ts";
import { Count, textOfBytes } from "../primitives.ts";
import { ReceiverUrl } from "../webhooks/receiver-url.ts";
import { isReservedName, RESERVED } from "./reserved-name.ts";
import { SecretName } from "./secret-name.ts";

/** A new secret's name, which is also the name of the environment variable with its value. */
const NewSecretName = v.pipe(
  SecretName,
  v.check(
    (name) => !isReservedName(name),
    ({ input }) => `${input} is a reserved variable: choose another name`,
  ),
  v.metadata({
    not: { pattern: RESERVED },
    description:
      "Also the name of the environment variable with the value. Names that change how programs behave, such as PATH or LD_PRELOAD, are reserved.",
  }),
);

/** How the service renews the access token of an OAuth server (RFC 6749, section 6). */
const NewRenewal = v.object({
  /** The URL of the server that accepts the token, such as an MCP server. */
  server_url: ReceiverUrl,
  /** The URL that issues new tokens. Its address must be public. */
  token_endpoint: ReceiverUrl,
  /** The id of the OAuth client. */
  client_id: textOfBytes(512, 1),
  /** The secret of the OAuth client, if it has one. It is never returned. */
  client_secret: v.exactOptional(textOfBytes(512, 1)),
  /** The refresh token. It is never returned, and no run gets it. */
  refresh_token: textOfBytes(3072, 1),
  /** The resource that the token is limited to (RFC 8707). */
  resource: v.exactOptional(textOfBytes(2048, 1)),
  /** Seconds until the value expires. If absent, the service renews it only after a server has refused it. */
  expires_in: v.exactOptional(Count),
});
export type NewRenewal = v.InferOutput<typeof NewRenewal>;

/** A new secret. */
export const CreateSecretRequest = v.object({
  /** The name that configurations refer to, unique within the team. */
  name: NewSecretName,
  /** The value. It is never returned. */
  value: textOfBytes(4096, 1),
  /** Makes the value an access token that the service renews before executions start. */
  renewal: v.exactOptional(NewRenewal),
});
export type CreateSecretRequest = v.InferOutput<typeof CreateSecretRequest>;

/** A secret without its value. */
export const SecretItem = v.object({
  /** The name that configurations refer to. */
  name: v.string(),
  /** The time of creation. @format date-time */
  created_at: v.string(),
  /** The owner. */
  scope: v.object({
    /** Always `Team`. */
    type: v.literal("Team"),
    /** The team's id. */
    uid: v.string(),
  }),
  /** How the value is renewed. Absent if it is not renewed. */
  renewal: v.exactOptional(
    v.object({
      /** The URL of the server that accepts the token. */
      server_url: v.string(),
      /** The URL that issues new tokens. */
      token_endpoint: v.string(),
      /** The time of the latest renewal, or of the sign-in. @format date-time */
      renewed_at: v.string(),
      /** When the value expires. Absent if unknown. @format date-time */
      expires_at: v.exactOptional(v.string()),
      /** Why the value can no longer be renewed, and what to do. Absent if it can. */
      refusal: v.exactOptional(v.string()),
    }),
  ),
});
export type SecretItem = v.InferOutput<typeof SecretItem>;

/** A page of secrets. */
export const ListSecretsResponse = v.object({
  /** The secrets, without their values. */
  secrets: v.array(SecretItem),
  /** The position of the page in the list. */
  page_info: v.exactOptional(PageInfo),
});
