import { queryOptions, useQuery } from "@tanstack/react-query";
import type { SessionInfo } from "../../clients/typescript/src/index.ts";
import { client, isSignedOut } from "./client.ts";
import { dropDrafts } from "./drafts.ts";
import { dropEarlyResponses } from "./early-responses.ts";
import { queryClient, refreshQueries } from "./query-client.ts";
import { selectedTeam, selectTeam } from "./team-choice.ts";

/** A session that is used is renewed this often; it ends after hours without a renewal. */
const RENEWAL_MS = 30 * 60_000;

/** The signed-in person, or null. */
export const sessionQuery = queryOptions({
  queryKey: ["session"],
  staleTime: 5 * 60_000,
  queryFn: async ({ signal }): Promise<SessionInfo | null> => {
    try {
      const session = await client.webSessions.retrieve({ signal });
      dropFormerTeam(session);
      return session;
    } catch (error) {
      if (isSignedOut(error)) return null;
      throw error;
    }
  },
});

/** Drops the choice of a team that the person has left, and the responses for it, which are refusals. */
function dropFormerTeam({ teams }: SessionInfo): void {
  const chosen = selectedTeam();
  if (chosen === undefined || teams.some(({ uid }) => uid === chosen)) return;
  selectTeam(undefined);
  dropEarlyResponses();
  void refreshQueries({ predicate: ({ queryKey: [name] }) => name !== "session" });
}

/** How people sign in, besides keys and links. The page works without this response. */
export const signInMethodsQuery = queryOptions({
  queryKey: ["sign-in-methods"],
  staleTime: 5 * 60_000,
  queryFn: ({ signal }) => client.webSessions.methods({ signal }),
});

/** Signs in with an API key or with the token of a sign-in link. @throws if it is refused */
export async function signIn(credential: { readonly key: string } | { readonly token: string }): Promise<void> {
  await client.webSessions.create(credential, { maxRetries: 0 });
  queryClient.clear();
  await queryClient.fetchQuery({ ...sessionQuery, staleTime: 0 });
}

/** Ends the session of this browser, or all sessions of the person. */
export async function signOut(everywhere = false): Promise<void> {
  await client.webSessions.end(everywhere ? { all: true } : {}).catch((error: unknown) => {
    if (!isSignedOut(error)) throw error;
  });
  selectTeam(undefined);
  dropDrafts();
  queryClient.clear();
}

/** Renews the session as long as somebody uses the app. */
export function keepSession(): void {
  setInterval(() => {
    if (document.visibilityState === "visible") void client.webSessions.extend().catch(() => undefined);
  }, RENEWAL_MS);
}

type Viewer = SessionInfo["user"] & Pick<SessionInfo, "teams">;
const NOBODY: Viewer = { uid: "", display_name: "", email: "", teams: [] };

const toViewer = (session: SessionInfo | null | undefined): Viewer =>
  session ? { ...session.user, teams: session.teams } : NOBODY;

/** The signed-in person. Pages behind the sign-in always have one. */
export const useMe = (): Viewer => toViewer(useQuery(sessionQuery).data);

/** The signed-in person, outside of a component. */
export const readMe = (): Viewer => toViewer(queryClient.getQueryData(sessionQuery.queryKey));
