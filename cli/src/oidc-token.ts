import * as v from "valibot";
import type { Runyard, TokenResponse } from "../../clients/typescript/src/index.ts";
import { Problem } from "./problem.ts";

type Environment = Readonly<Record<string, string | undefined>>;

const TokenBody = v.object({ value: v.string() });

/** Whether this is a job of GitHub Actions that may request OIDC tokens: its workflow has the permission `id-token: write`. */
export const hasGithubToken = (env: Environment): boolean =>
  Boolean(env["ACTIONS_ID_TOKEN_REQUEST_URL"] && env["ACTIONS_ID_TOKEN_REQUEST_TOKEN"]);

/** Requests the OIDC token of the job from GitHub. */
export async function requestGithubToken(env: Environment, audience: string): Promise<string> {
  const url = new URL(env["ACTIONS_ID_TOKEN_REQUEST_URL"] ?? "");
  url.searchParams.set("audience", audience);
  const headers = { authorization: `Bearer ${env["ACTIONS_ID_TOKEN_REQUEST_TOKEN"]}`, accept: "application/json" };
  const response = await fetch(url, { headers, redirect: "error", signal: AbortSignal.timeout(30_000) });
  const parsed = v.safeParse(TokenBody, await response.json().catch(() => undefined));
  if (response.ok && parsed.success) return parsed.output.value;
  throw new Problem(`GitHub gave no OIDC token: status ${response.status}.`);
}

/** The audience that a token has unless another one is named: the origin of the service. */
export const defaultAudience = (baseURL: string): string => new URL(baseURL).origin;

/** Exchanges an OIDC token for a key that expires. `client` needs no key. */
export function exchangeOidcToken(
  client: Pick<Runyard, "token">,
  token: string,
  identityUid: string | undefined,
): Promise<TokenResponse> {
  return client.token.create({ token, ...(identityUid === undefined ? {} : { identity_uid: identityUid }) });
}
