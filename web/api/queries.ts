import { queryOptions } from "@tanstack/react-query";
import { client } from "./client.ts";

/** Items that change rarely are read again after this time. */
const SLOW = 5 * 60_000;

/** All items of a list, up to a bound that keeps the page quick. */
const MAX_ITEMS = 2000;
export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) {
    all.push(item);
    if (all.length >= MAX_ITEMS) break;
  }
  return all;
}

export const modelsQuery = queryOptions({
  queryKey: ["models"],
  staleTime: SLOW,
  queryFn: ({ signal }) => client.models.list({ signal }),
});

export const environmentsQuery = queryOptions({
  queryKey: ["environments"],
  staleTime: SLOW,
  queryFn: ({ signal }) => collect(client.environments.list({}, { signal })),
});

export const skillsQuery = queryOptions({
  queryKey: ["skills"],
  staleTime: SLOW,
  queryFn: ({ signal }) => collect(client.agents.list({}, { signal })),
});

export const identitiesQuery = queryOptions({
  queryKey: ["identities"],
  queryFn: ({ signal }) => collect(client.identities.list({}, { signal })),
});

export const identityQuery = (uid: string) =>
  queryOptions({ queryKey: ["identities", uid], queryFn: ({ signal }) => client.identities.retrieve(uid, { signal }) });

export const identityKeysQuery = (uid: string) =>
  queryOptions({
    queryKey: ["identities", uid, "keys"],
    queryFn: ({ signal }) => collect(client.identities.keys.list(uid, {}, { signal })),
  });

export const trustRulesQuery = (uid: string) =>
  queryOptions({
    queryKey: ["identities", uid, "trust-rules"],
    queryFn: ({ signal }) => collect(client.identities.trustRules.list(uid, {}, { signal })),
  });

export const ownKeysQuery = queryOptions({
  queryKey: ["keys"],
  queryFn: ({ signal }) => collect(client.keys.list({}, { signal })),
});

export const webSessionsQuery = queryOptions({
  queryKey: ["web-sessions"],
  queryFn: ({ signal }) => collect(client.webSessions.list({}, { signal })),
});

export const schedulesQuery = queryOptions({
  queryKey: ["schedules"],
  refetchInterval: 15_000,
  queryFn: ({ signal }) => collect(client.schedules.list({}, { signal })),
});

export const scheduleQuery = (id: string) =>
  queryOptions({
    queryKey: ["schedules", id],
    refetchInterval: 10_000,
    queryFn: ({ signal }) => client.schedules.retrieve(id, { signal }),
  });

export const ticksQuery = (id: string) =>
  queryOptions({
    queryKey: ["schedules", id, "ticks"],
    refetchInterval: 15_000,
    queryFn: async ({ signal }) => (await client.schedules.ticks(id, { limit: 50 }, { signal })).data,
  });

export const teamQuery = (uid: string) =>
  queryOptions({ queryKey: ["teams", uid], queryFn: ({ signal }) => client.teams.retrieve(uid, { signal }) });

export const membersQuery = (uid: string) =>
  queryOptions({
    queryKey: ["teams", uid, "members"],
    queryFn: ({ signal }) => collect(client.teams.members.list(uid, {}, { signal })),
  });

export const invitationsQuery = (uid: string) =>
  queryOptions({
    queryKey: ["teams", uid, "invitations"],
    queryFn: ({ signal }) => collect(client.teams.invitations.list(uid, {}, { signal })),
  });

export const webhooksQuery = (teamUid: string) =>
  queryOptions({
    queryKey: ["teams", teamUid, "webhooks"],
    queryFn: ({ signal }) => collect(client.webhooks.list({}, { team: teamUid, signal })),
  });

/** The people of teams. Those of a team whose members the viewer may not list are left out. */
export async function listPeople(teams: readonly string[], signal: AbortSignal) {
  const lists = await Promise.all(
    teams.map((uid) => collect(client.teams.members.list(uid, {}, { signal })).catch(() => [])),
  );
  return lists.flat().map(({ uid, display_name, email }) => ({ uid, name: display_name || email }));
}

/** People and agents who may have created runs. People are left out where the viewer may not list them. */
export const peopleQuery = (teams: readonly string[]) =>
  queryOptions({
    queryKey: ["people", teams],
    staleTime: SLOW,
    queryFn: async ({ signal }) => {
      const people = await listPeople(teams, signal);
      const identities = await collect(client.identities.list({}, { signal })).catch(() => []);
      return [...people, ...identities.map(({ uid, name }) => ({ uid, name }))];
    },
  });

export const runQuery = (runId: string) =>
  queryOptions({ queryKey: ["run", runId], queryFn: ({ signal }) => client.runs.retrieve(runId, { signal }) });

/** The descendants of a run. */
export const descendantsQuery = (runId: string, isLive: boolean) =>
  queryOptions({
    queryKey: ["run", runId, "descendants"],
    refetchInterval: isLive ? 5000 : false,
    queryFn: ({ signal }) =>
      collect(
        client.runs.list({ ancestor_run_id: runId, limit: 500, sort_by: "created_at", sort_order: "asc" }, { signal }),
      ),
  });
