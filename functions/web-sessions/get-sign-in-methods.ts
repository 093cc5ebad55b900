import { publicEndpoint } from "#shared/http/endpoint.ts";
import { readSignInMethods, type SignInMethodPorts } from "#shared/web-sessions/oidc-sign-in.ts";
import { SignInMethods } from "#shared/wire/web/web-session.ts";

/** GET /session/methods: returns how people sign in, besides API keys and links. Requires no API key. */
export const getSignInMethods = publicEndpoint({
  request: {},
  reply: { 200: SignInMethods },
  errors: ["not_authorized"],
  async run(_, ports: SignInMethodPorts) {
    return { status: 200, body: await readSignInMethods(ports) };
  },
});
