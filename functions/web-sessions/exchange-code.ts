import { type PublicPorts, publicEndpoint } from "#shared/http/endpoint.ts";
import { refuseForeignOrigin } from "#shared/http/session-cookie.ts";
import { type OidcSignInPorts, signInByCode } from "#shared/web-sessions/oidc-sign-in.ts";
import { OidcCodeRequest, SignInToken } from "#shared/wire/web/web-session.ts";

/**
 * POST /session/oidc: exchanges an OIDC authorization code for a one-time token. `POST /session` with the token starts a
 * web session. Requires no API key: `state` and the ID token's `nonce` must be digests of `code_verifier`, the
 * base64url-encoded SHA-256 of `state.` or `nonce.` followed by it. A person at the issuer is bound to the user with the
 * same verified email address at the first sign-in; an address that was invited and has no account yet gets one. The
 * first sign-in ends all API keys and sessions of an account that was created through an invitation.
 */
export const exchangeCode = publicEndpoint({
  request: { body: OidcCodeRequest },
  reply: { 201: SignInToken },
  errors: ["authentication_required", "not_authorized", "operation_not_supported"],
  async run({ body, header }, ports: OidcSignInPorts & PublicPorts) {
    if (header("origin") !== undefined) refuseForeignOrigin(header, ports);
    return { status: 201, body: await signInByCode(body, ports) };
  },
});
