import { RunyardError } from "#shared/errors.ts";
import { statusText } from "#shared/records/run.ts";
import { secretStore } from "#shared/secrets/secret-store.ts";
import type { Table } from "#shared/table/table.ts";
import { asksForAccess } from "./author.ts";
import type { TriggerEvent } from "./event.ts";
import type { Ignored } from "./plan-run.ts";
import { findSource } from "./sources/find-source.ts";
import type { SystemName, SystemResult, Systems } from "./systems/system-request.ts";
import type { Trigger } from "./trigger-store.ts";

export interface AccessPorts {
  readonly table: Table;
  readonly systems: Systems;
}

/** The kind of a trigger whose system is called with a credential; undefined for other kinds. */
export const toSystem = ({ kind }: Pick<Trigger, "kind">): SystemName | undefined =>
  kind === "webhook" ? undefined : kind;

/**
 * Asks the system whether the author of an event may start runs, where the event does not prove it. Returns why it is ignored;
 * undefined for one that is not.
 * @throws RunyardError where the system does not say, which time may change
 */
export async function findAccessRefusal(
  trigger: Trigger,
  event: TriggerEvent,
  ports: AccessPorts,
): Promise<Ignored | undefined> {
  const system = toSystem(trigger);
  if (system === undefined || trigger.credential === undefined || !asksForAccess(trigger, event)) return undefined;
  const { place = "", account = "" } = findSource(trigger).toAccount?.(event) ?? {};
  if (place === "" || account === "") return toIgnored("the event does not tell who caused it, and where");
  const credential = await readCredential(trigger.team_uid, trigger.credential, ports.table);
  const request = { action: "check_access", system, ...credential, place, account } as const;
  const { has_access } = requireResult(await ports.systems.call(request));
  const who = event.author.name;
  return has_access
    ? undefined
    : toIgnored(`${who} ${system === "slack" ? "is no full member" : "has no write access"}`);
}

const toIgnored = (detail: string): Ignored => ({ outcome: "ignored", reason: "author", detail: statusText(detail) });

/** What names the value of a credential. */
export interface Credential {
  readonly team_uid: string;
  readonly secret_id: string;
}

/**
 * Finds the secret that a credential names.
 * @throws RunyardError where the team has none, which may be created again
 */
export async function readCredential(team: string, name: string, table: Table): Promise<Credential> {
  const [secret] = await secretStore(table).getMany(team, [name]);
  if (secret === undefined) throw unavailable(`the team has no secret ${name}, which is the trigger's credential`);
  return { team_uid: team, secret_id: secret.id };
}

/** The result of a call; throws where there is none that can be used. */
function requireResult(result: SystemResult): Exclude<SystemResult, { readonly failure: string }> {
  if ("failure" in result) throw unavailable(result.failure);
  return result;
}

const unavailable = (detail: string): RunyardError => new RunyardError("resource_unavailable", { detail });
