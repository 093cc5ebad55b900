import ipaddr from "ipaddr.js";
import { invalid, RunyardError } from "#shared/errors.ts";
import { scopeOfAddress } from "#shared/wire/network/addresses.ts";

/** Which URLs may receive events of runs. */
export interface ReceiverRules {
  /** True if the deployment sends the events of its runs. */
  readonly isAvailable: boolean;
  /** True if URLs may lead to private addresses, and by plain HTTP. */
  readonly allowsPrivate: boolean;
}

/**
 * Refuses a URL that the service would not connect to. Names are checked when it connects.
 * @throws RunyardError 400 naming the field; 422 where the deployment sends no events
 */
export function refuseReceiver(field: string, url: string, rules: ReceiverRules | undefined): void {
  if (rules?.isAvailable !== true) {
    throw new RunyardError("operation_not_supported", { detail: "this deployment does not send events of its runs" });
  }
  refuseUrl(field, url, rules);
}

/** As `refuseReceiver`, for a receiver that exists already. */
export function refuseUrl(field: string, url: string, { allowsPrivate }: Pick<ReceiverRules, "allowsPrivate">): void {
  const parsed = URL.parse(url);
  if (parsed === null) throw invalid(field, "must be a URL");
  if (allowsPrivate) return;
  if (parsed.protocol !== "https:") throw invalid(field, "must be an https URL");
  const host = parsed.hostname.replace(/^\[(.*)\]$/, "$1");
  const isLocal = host === "localhost" || host.endsWith(".localhost");
  if (isLocal || (ipaddr.isValid(host) && scopeOfAddress(host) !== "public")) {
    throw invalid(field, "must lead to the internet, not to a private address");
  }
}
