import { ssmClient } from "#shared/aws/clients.ts";
import { ssmParameter } from "#shared/aws/ssm-parameter.ts";
import type { HttpPorts, PublicPorts } from "#shared/http/endpoint.ts";
import type { SignInClient, SignInIssuer } from "#shared/oidc/exchange-code.ts";
import { createIssuers } from "#shared/oidc/issuers.ts";
import { setting, settingIfAny } from "#shared/settings.ts";
import type { OidcSignInPorts, SignInMethodPorts } from "#shared/web-sessions/oidc-sign-in.ts";
import { createTablePorts } from "./common.ts";

/** The ports of the endpoints by which people sign in with the deployment's OIDC issuer. */
export function createOidcSignInPorts(): OidcSignInPorts & HttpPorts {
  const ports = createTablePorts();
  return { ...ports, signInIssuer: createSignInIssuer(ports.now) };
}

function createSignInIssuer(now: () => number): SignInIssuer | undefined {
  const client = createSignInClient(now);
  if (client === undefined) return undefined;
  const parameter = settingIfAny("OIDC_SECRET_PARAMETER");
  const clientSecret = parameter === undefined ? async () => undefined : ssmParameter(ssmClient(), parameter, now);
  return { ...client, clientSecret };
}

function createSignInClient(now: () => number): SignInClient | undefined {
  const issuer = settingIfAny("OIDC_ISSUER");
  if (issuer === undefined) return undefined;
  return { issuer, clientId: setting("OIDC_CLIENT_ID"), issuers: createIssuers({ now, allowsPrivate: false }) };
}

/** As `createOidcSignInPorts`, for the endpoint that neither reads the table nor signs anybody in. */
export function createSignInMethodPorts(): SignInMethodPorts & PublicPorts {
  return { baseUrl: setting("BASE_URL"), webUrl: settingIfAny("WEB_URL"), signInIssuer: createSignInClient(Date.now) };
}
