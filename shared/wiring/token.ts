import type { HttpPorts } from "#shared/http/endpoint.ts";
import type { TokenPorts } from "#shared/identities/exchange-token.ts";
import type { TrustRulePorts } from "#shared/identities/trust-rules.ts";
import { createIssuers } from "#shared/oidc/issuers.ts";
import { createTablePorts } from "./common.ts";

/** The ports of the endpoints of trust rules. They send no requests to issuers. */
export const createTrustRulePorts = (): TrustRulePorts & HttpPorts => ({
  ...createTablePorts(),
  issuers: { allowsPrivate: false },
});

/** The ports of the endpoint that exchanges OIDC tokens. */
export function createTokenPorts(): TokenPorts & HttpPorts {
  const ports = createTablePorts();
  return { ...ports, issuers: createIssuers({ now: ports.now, allowsPrivate: false }) };
}
