import type { Runyard } from "../../clients/typescript/src/index.ts";
import { usage } from "./problem.ts";

const UID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** An item that commands take by its uid or its name. */
export interface Named {
  readonly uid: string;
  readonly name: string;
}

export async function* listEnvironments(client: Pick<Runyard, "environments">): AsyncGenerator<Named> {
  for await (const { uid, config } of client.environments.list()) yield { uid, name: config.name };
}

export async function* listAgents(client: Pick<Runyard, "identities">): AsyncGenerator<Named> {
  for await (const { uid, name } of client.identities.list()) yield { uid, name };
}

export async function* listSchedules(client: Pick<Runyard, "schedules">): AsyncGenerator<Named> {
  for await (const { id, name } of client.schedules.list()) yield { uid: id, name };
}

export async function* listTeams(client: Pick<Runyard, "me">): AsyncGenerator<Named> {
  yield* (await client.me.retrieve()).teams;
}

async function* listMembers(client: Pick<Runyard, "teams">, team: string): AsyncGenerator<Named> {
  for await (const { uid, email } of client.teams.members.list(team)) yield { uid, name: email };
}

/** Resolves the uid or name of an environment to its uid. */
export const environmentUid = (client: Pick<Runyard, "environments">, given: string): Promise<string> =>
  resolveUid("environment", given, listEnvironments(client));

/** Resolves the uid or name of a team agent to its uid. */
export const agentUid = (client: Pick<Runyard, "identities">, given: string): Promise<string> =>
  resolveUid("agent", given, listAgents(client));

/** Resolves the id or name of a schedule to its id. */
export const scheduleId = (client: Pick<Runyard, "schedules">, given: string): Promise<string> =>
  resolveUid("schedule", given, listSchedules(client));

/** Resolves the uid or name of a team of the person to its uid. */
export const teamUid = (client: Pick<Runyard, "me">, given: string): Promise<string> =>
  resolveUid("team", given, listTeams(client));

/** Resolves the uid or email address of a member of a team to their uid. */
export const memberUid = (client: Pick<Runyard, "teams">, team: string, given: string): Promise<string> =>
  resolveUid("member", given, listMembers(client, team));

/** Requests nothing for a uid: an iteration that does not begin sends no request. */
async function resolveUid(kind: string, given: string, items: AsyncIterable<Named>): Promise<string> {
  if (UID.test(given)) return given;
  const all: Named[] = [];
  for await (const item of items) all.push(item);
  const found = all.filter(({ uid, name }) => uid === given || name === given);
  if (found.length > 1) {
    throw usage(`Several have the name ${given}: ${found.map(({ uid }) => uid).join(", ")}.`, "Use the uid.");
  }
  const [one] = found;
  if (one !== undefined) return one.uid;
  const names = all.map(({ name }) => name).slice(0, 20);
  throw usage(`There is no ${kind} ${given}.`, names.length === 0 ? undefined : `There are: ${names.join(", ")}.`);
}
