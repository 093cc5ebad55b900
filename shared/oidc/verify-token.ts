import { errors, jwtVerify } from "jose";
import * as v from "valibot";
import type { RunyardError } from "#shared/errors.ts";
import { type Issuers, issuerUnavailable } from "./issuers.ts";
import { BlockedAddress } from "./outward-fetch.ts";

/** Asymmetric signatures only: a symmetric one would be made with a secret that this service does not have. */
const ALGORITHMS = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
];
const CLOCK_TOLERANCE_SECONDS = 60;

const Claims = v.looseObject({ iss: v.string(), sub: v.pipe(v.string(), v.minLength(1), v.maxLength(1024)) });
/** The claims of a verified token. */
export type Claims = v.InferOutput<typeof Claims>;

interface Expected {
  readonly issuer: string;
  readonly audience: string;
  /** The time in milliseconds. */
  readonly now: number;
  /** Creates the error of a token whose `claim` is refused. */
  readonly refuse: (claim: string, why: string) => RunyardError;
}

/**
 * Verifies a token of an issuer: its signature, issuer, audience and times.
 * @throws RunyardError from `expected.refuse`, and `resource_unavailable` where the issuer does not respond
 */
export async function verifyToken(token: string, expected: Expected, issuers: Issuers): Promise<Claims> {
  const { issuer, audience, now } = expected;
  const { keys } = await issuers.read(issuer);
  try {
    const { payload } = await jwtVerify(token, keys, {
      issuer,
      audience,
      algorithms: ALGORITHMS,
      requiredClaims: ["iss", "aud", "exp", "sub"],
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      currentDate: new Date(now),
    });
    return v.parse(Claims, payload);
  } catch (error) {
    throw toRefusal(error, expected);
  }
}

function toRefusal(error: unknown, { issuer, refuse }: Expected): RunyardError {
  if (error instanceof errors.JWTExpired) return refuse("exp", "the token has expired");
  if (error instanceof errors.JWTClaimValidationFailed) return refuse(error.claim, "is missing, or not as expected");
  if (error instanceof errors.JOSEAlgNotAllowed) return refuse("alg", "the signature must be asymmetric");
  if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys) {
    return refuse("kid", "the issuer has no such key");
  }
  if (error instanceof errors.JWSSignatureVerificationFailed) return refuse("signature", "does not match");
  if (error instanceof v.ValiError) return refuse("sub", "is missing or too long");
  if (error instanceof BlockedAddress) return refuse("iss", error.message);
  const isMalformed =
    error instanceof errors.JWSInvalid ||
    error instanceof errors.JWTInvalid ||
    error instanceof errors.JOSENotSupported;
  return isMalformed ? refuse("token", "is not a signed JWT") : issuerUnavailable(issuer, error);
}
