import { notFound } from "#shared/errors.ts";

export const ALGORITHM = "ES256";

/** The claims that tokens may have. */
export const CLAIMS: readonly string[] = [
  ...["iss", "aud", "sub", "iat", "nbf", "exp", "run_id", "root_run_id", "team_uid", "identity_uid"],
  ...["environment_uid", "schedule_id", "trigger_id", "repository", "source"],
];

/** What the endpoints of the issuer need. */
export interface OwnIssuer {
  /** The configured public address of the API, which is the issuer of identity tokens; undefined where none is configured. */
  readonly issuerUrl: string | undefined;
}

/** The address as the issuer of tokens: only an https URL can be one. */
export const toIssuerUrl = (baseUrl: string | undefined): string | undefined =>
  baseUrl?.startsWith("https://") ? baseUrl : undefined;

/** Whether two addresses are the same to somebody who compares them as URLs, or without the slash at the end. */
export const isSameAddress = (one: string, other: string): boolean => normalize(one) === normalize(other);

const normalize = (address: string): string => (URL.parse(address)?.href ?? address.toLowerCase()).replace(/\/+$/, "");

/** @throws RunyardError 404 where the deployment is no issuer */
export function requireIssuer({ issuerUrl }: OwnIssuer): string {
  if (issuerUrl === undefined) throw notFound("issuer");
  return issuerUrl;
}
