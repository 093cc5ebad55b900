import { publicEndpoint } from "#shared/http/endpoint.ts";
import { exchangeToken, type TokenPorts } from "#shared/identities/exchange-token.ts";
import { TokenRequest, TokenResponse } from "#shared/wire/trust-rule.ts";

/**
 * POST /agent/token: exchanges an OIDC token for an API key of an identity. The token may be that of a GitHub Actions
 * job, for example. A trust rule of the identity must match the token's `iss`, `aud` and `sub` claims; otherwise the
 * response is 403 and names the claim. The key expires after the rule's `ttl_seconds`. Requires no API key.
 */
export const createToken = publicEndpoint({
  request: { body: TokenRequest },
  reply: { 201: TokenResponse },
  errors: ["not_authorized", "feature_not_available"],
  async run({ body }, ports: TokenPorts) {
    return { status: 201, body: await exchangeToken(body, ports) };
  },
});
