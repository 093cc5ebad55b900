import type { Runyard } from "../../clients/typescript/src/index.ts";
import { usage } from "./problem.ts";

const UID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Resolves the uid or name of an environment to its uid. */
export async function environmentUid(client: Pick<Runyard, "environments">, given: string): Promise<string> {
  if (UID.test(given)) return given;
  const all: Named[] = [];
  for await (const { uid, config } of client.environments.list()) all.push({ uid, name: config.name });
  return theOne("environment", given, all);
}

/** Resolves the uid or name of a team agent to its uid. */
export async function agentUid(client: Pick<Runyard, "identities">, given: string): Promise<string> {
  if (UID.test(given)) return given;
  const all: Named[] = [];
  for await (const { uid, name } of client.identities.list()) all.push({ uid, name });
  return theOne("agent", given, all);
}

/** Resolves the id or name of a schedule to its id. */
export async function scheduleId(client: Pick<Runyard, "schedules">, given: string): Promise<string> {
  if (UID.test(given)) return given;
  const all: Named[] = [];
  for await (const { id, name } of client.schedules.list()) all.push({ uid: id, name });
  return theOne("schedule", given, all);
}

/** Resolves the uid or name of a team of the person to its uid. */
export async function teamUid(client: Pick<Runyard, "me">, given: string): Promise<string> {
  return UID.test(given) ? given : theOne("team", given, (await client.me.retrieve()).teams);
}

/** Resolves the uid or email address of a member of a team to their uid. */
export async function memberUid(client: Pick<Runyard, "teams">, team: string, given: string): Promise<string> {
  if (UID.test(given)) return given;
  const all: Named[] = [];
  for await (const { uid, email } of client.teams.members.list(team)) all.push({ uid, name: email });
  return theOne("member", given, all);
}

interface Named {
  readonly uid: string;
  readonly name: string;
}

function theOne(kind: string, given: string, all: readonly Named[]): string {
  const found = all.filter(({ uid, name }) => uid === given || name === given);
  if (found.length > 1) {
    throw usage(`Several have the name ${given}: ${found.map(({ uid }) => uid).join(", ")}.`, "Use the uid.");
  }
  const [one] = found;
  if (one !== undefined) return one.uid;
  const names = all.map(({ name }) => name).slice(0, 20);
  throw usage(`There is no ${kind} ${given}.`, names.length === 0 ? undefined : `There are: ${names.join(", ")}.`);
}
