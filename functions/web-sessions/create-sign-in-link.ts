import { endpoint } from "#shared/http/endpoint.ts";
import { requirePerson } from "#shared/principals/require-role.ts";
import type { WebSessionPorts } from "#shared/web-sessions/sign-in.ts";
import { createLink } from "#shared/web-sessions/sign-in-link.ts";
import { SignInLink } from "#shared/wire/web/web-session.ts";

/** POST /session/link: creates a one-time link to sign in to the web app. The link works for ten minutes. */
export const createSignInLink = endpoint({
  request: {},
  reply: { 201: SignInLink },
  rateLimit: "session",
  async run({ principal, rateLimitToken }, ports: WebSessionPorts) {
    return { status: 201, body: await createLink(requirePerson(principal), rateLimitToken, ports) };
  },
});
