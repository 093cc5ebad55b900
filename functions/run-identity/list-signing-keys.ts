import * as v from "valibot";
import { publicEndpoint } from "#shared/http/endpoint.ts";
import { PUBLIC_HEADERS } from "#shared/http/public-headers.ts";
import { type OwnIssuer, requireIssuer } from "#shared/run-identity/own-issuer.ts";
import { PublicKey, type SigningKeys } from "#shared/run-identity/signing-keys.ts";

/**
 * GET /.well-known/jwks.json: returns the public keys that verify identity tokens. The format is a JSON Web Key Set. A
 * key is in the set a day before it signs its first token. Returns 404 if no public address is configured.
 */
export const listSigningKeys = publicEndpoint({
  request: {},
  reply: {
    200: v.object({
      /** The public keys, oldest first. Empty before the first token. */
      keys: v.array(PublicKey),
    }),
  },
  errors: ["resource_not_found"],
  async run(_call, ports: OwnIssuer & { readonly signingKeys: Pick<SigningKeys, "listPublic"> }) {
    requireIssuer(ports);
    const keys = await ports.signingKeys.listPublic();
    // The first key is made with the first token, and signs at once.
    return { status: 200, body: { keys }, headers: keys.length === 0 ? {} : PUBLIC_HEADERS };
  },
});
