import * as v from "valibot";
import { BlockedAddress, type OutwardFetch } from "#shared/oidc/outward-fetch.ts";
import { IssuedTokens, parseGrant, type RenewalResult, type RenewToken } from "#shared/secrets/renewal-grant.ts";
import type { SecretVault } from "#shared/vault/secret-vault.ts";

interface RenewPorts {
  readonly vault: Pick<SecretVault, "getAll">;
  readonly tokenFetch: OutwardFetch;
}

const TokenResponse = v.object({ ...IssuedTokens.entries, token_type: v.pipe(v.string(), v.regex(/^bearer$/i)) });
/** The codes of RFC 6749; nothing else of a response is shown. */
const Refusal = v.object({ error: v.pipe(v.string(), v.regex(/^[a-z_]{1,50}$/)) });

/** Requests new tokens. A response that says that none will ever be issued is a refusal, any other failure may pass. */
export async function renewToken(
  { team_uid, secret_id, token_endpoint, client_id, resource }: RenewToken,
  { vault, tokenFetch }: RenewPorts,
): Promise<RenewalResult> {
  const stored = (await vault.getAll(team_uid, [secret_id])).get(secret_id);
  if (stored === undefined) return { refused: "there is no refresh token" };
  const { refresh_token, client_secret } = parseGrant(stored);
  const form = {
    ...{ grant_type: "refresh_token", refresh_token, client_id },
    ...(client_secret === undefined ? {} : { client_secret }),
    ...(resource === undefined ? {} : { resource }),
  };
  const { host } = new URL(token_endpoint);
  let response: Response;
  try {
    response = await tokenFetch(token_endpoint, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded", "user-agent": "Runyard" },
      body: new URLSearchParams(form).toString(),
    });
  } catch (error) {
    return { failure: error instanceof BlockedAddress ? error.message : `${host} does not respond` };
  }
  const text = await response.text();
  const tokens = v.safeParse(v.pipe(v.string(), v.parseJson(), TokenResponse), text);
  if (response.ok && tokens.success) {
    const { token_type: _type, ...issued } = tokens.output;
    return { tokens: issued };
  }
  const refusal = v.safeParse(v.pipe(v.string(), v.parseJson(), Refusal), text);
  const isFinal = response.status === 400 || response.status === 401;
  if (isFinal) return { refused: refusal.success ? refusal.output.error : `status ${response.status}` };
  if (response.ok) return { failure: `${host} issues tokens that are not as documented` };
  return { failure: `${host} responds with the status ${response.status}` };
}
