import { statusText } from "#shared/records/run.ts";
import { asksForAccess } from "./author.ts";
import type { AnsweredEvent } from "./event.ts";
import type { Ignored } from "./plan-run.ts";
import { findSource } from "./sources/find-source.ts";
import { type CredentialPorts, nameCredential, readCredential, requestSystem } from "./systems/credential.ts";
import type { SystemName, Systems } from "./systems/system-request.ts";
import type { Trigger } from "./trigger-store.ts";

export interface AccessPorts extends CredentialPorts {
  readonly systems: Systems;
}

/** The kind of a trigger whose system is called with a credential; undefined for other kinds. */
export const toSystem = ({ kind }: Pick<Trigger, "kind">): SystemName | undefined =>
  kind === "webhook" ? undefined : kind;

/**
 * Asks the system whether the author of an event may start runs, where the event does not prove it. Returns why the event is
 * ignored; undefined where they may.
 * @throws RunyardError, retryable, where the system does not respond or refuses the credential
 */
export async function findAccessRefusal(
  trigger: Trigger,
  event: AnsweredEvent,
  ports: AccessPorts,
): Promise<Ignored | undefined> {
  const system = toSystem(trigger);
  const named = nameCredential(trigger, event);
  if (system === undefined || named === undefined || !asksForAccess(trigger, event)) return undefined;
  const { place = "", account = "" } = findSource(trigger).toAccount?.(event) ?? {};
  if (place === "" || account === "") return toIgnored("the event does not tell who caused it, and where");
  const credential = await readCredential(named, ports);
  const request = { action: "check_access", system, ...credential, place, account } as const;
  const { has_access } = await requestSystem(ports.systems, request);
  const who = event.author.name;
  return has_access === true
    ? undefined
    : toIgnored(`${who} ${system === "slack" ? "is not a full member" : "has no write access"}`);
}

const toIgnored = (detail: string): Ignored => ({ outcome: "ignored", reason: "author", detail: statusText(detail) });
