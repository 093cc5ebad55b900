import * as v from "valibot";
import { publicEndpoint } from "#shared/http/endpoint.ts";
import { PUBLIC_HEADERS } from "#shared/http/public-headers.ts";
import { ALGORITHM, CLAIMS, type OwnIssuer, requireIssuer } from "#shared/run-identity/own-issuer.ts";

const METADATA = {
  response_types_supported: ["id_token"],
  subject_types_supported: ["public"],
  id_token_signing_alg_values_supported: [ALGORITHM],
  claims_supported: [...CLAIMS],
};

/**
 * GET /.well-known/openid-configuration: returns the metadata of the issuer of identity tokens. The issuer is this
 * deployment. Returns 404 if no public address is configured.
 */
export const getOpenidConfiguration = publicEndpoint({
  request: {},
  reply: {
    200: v.object({
      /** The `iss` claim of identity tokens: the public address of the API. */
      issuer: v.string(),
      /** The URL of the public keys. */
      jwks_uri: v.string(),
      /** Always `id_token`. */
      response_types_supported: v.array(v.string()),
      /** Always `public`. */
      subject_types_supported: v.array(v.string()),
      /** The algorithms that sign identity tokens. */
      id_token_signing_alg_values_supported: v.array(v.string()),
      /** The claims that identity tokens may have. */
      claims_supported: v.array(v.string()),
    }),
  },
  errors: ["resource_not_found"],
  async run(_call, ports: OwnIssuer) {
    const issuer = requireIssuer(ports);
    return {
      status: 200,
      headers: PUBLIC_HEADERS,
      body: { issuer, jwks_uri: `${issuer}/.well-known/jwks.json`, ...METADATA },
    };
  },
});
