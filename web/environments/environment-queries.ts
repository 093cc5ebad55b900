import { queryOptions } from "@tanstack/react-query";
import { client } from "../api/client.ts";
import { collect, listPeople } from "../api/queries.ts";
import { isEnded } from "../ui/format.ts";

/** An environment. It is read again while its latest run, which may set it up, has not ended. */
export const environmentQuery = (uid: string) =>
  queryOptions({
    queryKey: ["environments", uid],
    queryFn: ({ signal }) => client.environments.retrieve(uid, {}, { signal }),
    // Each run may change whether the setup fails.
    staleTime: 0,
    refetchInterval: ({ state: { data } }) =>
      data?.last_task_created !== undefined && !isEnded(data.last_task_created.state) ? 5000 : false,
  });

export const secretsQuery = (teamUid: string) =>
  queryOptions({
    queryKey: ["teams", teamUid, "secrets"],
    queryFn: ({ signal }) => collect(client.secrets.list({}, { team: teamUid, signal })),
  });

/** The people of teams, each once. */
export const teammatesQuery = (teams: readonly string[]) =>
  queryOptions({
    queryKey: ["teammates", teams],
    queryFn: async ({ signal }) => [
      ...new Map((await listPeople(teams, signal)).map((one) => [one.uid, one])).values(),
    ],
  });
