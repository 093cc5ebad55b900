import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from "jose";
import * as v from "valibot";

/** A statement of a role's trust policy, with exact conditions only. */
interface TrustStatement {
  readonly Effect: "Allow";
  readonly Principal: { readonly Federated: string };
  readonly Action: "sts:AssumeRoleWithWebIdentity";
  readonly Condition: { readonly StringEquals: Readonly<Record<string, string>> };
}

export interface TrustPolicy {
  readonly Version: "2012-10-17";
  readonly Statement: readonly TrustStatement[];
}

/** Reads a public URL of the issuer as a stranger does: without a credential. */
type ReadUrl = (url: string) => Promise<unknown>;

const Discovery = v.object({ issuer: v.string(), jwks_uri: v.string() });
const KeySet = v.object({ keys: v.array(v.looseObject({ kty: v.string(), kid: v.string() })) });

const PROVIDER = /^arn:aws:iam::\d{12}:oidc-provider\/(.+)$/;
const MAX_SECONDS = 15 * 60;

/**
 * Evaluates AssumeRoleWithWebIdentity as STS documents it: the signature by the keys that the issuer publishes, the times, and every
 * condition of a statement for the token's provider. A condition key that is no claim of the token matches nothing.
 * @returns undefined if the role is opened, otherwise why it is not
 */
export async function assumeRole(
  token: string,
  policy: TrustPolicy,
  { read, now }: { readonly read: ReadUrl; readonly now: number },
): Promise<string | undefined> {
  for (const { Principal, Condition } of policy.Statement) {
    const [, provider] = PROVIDER.exec(Principal.Federated) ?? [];
    if (provider === undefined) return "the provider is no ARN of an OIDC provider";
    const issuer = `https://${provider}`;
    const discovery = v.parse(Discovery, await read(`${issuer}/.well-known/openid-configuration`));
    if (discovery.issuer !== issuer) return "the configuration is that of another issuer";
    const keys: JSONWebKeySet = v.parse(KeySet, await read(discovery.jwks_uri));
    const verified = await jwtVerify(token, createLocalJWKSet(keys), {
      issuer,
      algorithms: ["RS256", "ES256"],
      requiredClaims: ["aud", "sub", "exp", "iat"],
      currentDate: new Date(now),
    }).catch((error: unknown) => (error instanceof Error ? error.message : String(error)));
    if (typeof verified === "string") return verified;
    const { aud, sub, exp = 0, iat = 0 } = verified.payload;
    if (exp - iat > MAX_SECONDS) return "the token is valid for too long";
    const claims: Readonly<Record<string, unknown>> = { [`${provider}:aud`]: aud, [`${provider}:sub`]: sub };
    const wrong = Object.entries(Condition.StringEquals).find(([name, value]) => claims[name] !== value);
    if (wrong === undefined) return undefined;
  }
  return "no statement of the trust policy matches";
}

/** A trust policy of the same form as the one in docs/run-identity.md, for these values. */
export function trustPolicy(issuer: string, audience: string, subject: string): TrustPolicy {
  const provider = issuer.replace("https://", "");
  return {
    Version: "2012-10-17",
    Statement: [
      {
        Effect: "Allow",
        Principal: { Federated: `arn:aws:iam::123456789012:oidc-provider/${provider}` },
        Action: "sts:AssumeRoleWithWebIdentity",
        Condition: { StringEquals: { [`${provider}:aud`]: audience, [`${provider}:sub`]: subject } },
      },
    ],
  };
}
