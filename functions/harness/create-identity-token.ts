import { authorizeExecution } from "#shared/executions/execution-access.ts";
import { endpoint } from "#shared/http/endpoint.ts";
import { type IdentityTokenPorts, issueIdentityToken } from "#shared/run-identity/identity-token.ts";
import type { ChangePorts } from "#shared/runs/change-run.ts";
import { IdentityTokenRequest, IdentityTokenResponse } from "#shared/wire/executions/identity-token.ts";

/**
 * POST /harness-support/identity-token: returns a token that proves the run's identity to other systems. Cloud providers
 * exchange it for credentials. It is a JWT of this deployment as OIDC issuer, is valid for 15 minutes, and is issued only
 * while the run executes. If no public address is configured, the response is 409.
 */
export const createIdentityToken = endpoint({
  request: { body: IdentityTokenRequest },
  reply: { 200: IdentityTokenResponse },
  async run({ body, principal, header }, ports: IdentityTokenPorts & ChangePorts) {
    const head = await authorizeExecution(principal, header, ports);
    return { status: 200, body: await issueIdentityToken(head, body.audience, ports) };
  },
});
