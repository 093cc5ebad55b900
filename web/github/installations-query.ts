import { queryOptions } from "@tanstack/react-query";
import { client } from "../api/client.ts";
import { collect } from "../api/queries.ts";

/** The installations of the GitHub App that a team has claimed. */
export const installationsQuery = (teamUid: string) =>
  queryOptions({
    queryKey: ["teams", teamUid, "installations"],
    queryFn: ({ signal }) => collect(client.github.installations({}, { team: teamUid, signal })),
  });
