import { timingSafeEqual } from "node:crypto";
import { RunyardError } from "#shared/errors.ts";
import { sha256 } from "#shared/ids.ts";

/** The header with the secret that requests of CloudFront have, and no others. */
export const ORIGIN_SECRET_HEADER = "runyard-origin-secret";

/**
 * Refuses requests that do not come through CloudFront, before anything of them is looked at.
 * @param accepted secrets with commas: more than one while CloudFront changes from one to another
 */
export function refuseOtherOrigins(actual: string | undefined, accepted: string): void {
  const digest = Buffer.from(sha256(actual ?? ""));
  const secrets = accepted.split(",").filter((secret) => secret !== "");
  if (secrets.some((secret) => timingSafeEqual(digest, Buffer.from(sha256(secret))))) return;
  throw new RunyardError("not_authorized", { detail: "use the address of the API" });
}
