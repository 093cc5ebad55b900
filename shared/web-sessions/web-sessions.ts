import { sortByText } from "#shared/arrays.ts";
import { notFound } from "#shared/errors.ts";
import type { PersonalPrincipal } from "#shared/principals/principal.ts";
import { type WebSession, webSessionExpiry } from "#shared/records/web-session.ts";
import { ConflictError } from "#shared/table/transact.ts";
import { toTimestamp } from "#shared/wire/primitives.ts";
import type { Membership } from "#shared/wire/team.ts";
import type { SessionInfo, WebSessionItem } from "#shared/wire/web/web-session.ts";
import type { WebSessionPorts } from "./sign-in.ts";
import { webSessionStore } from "./web-session-store.ts";

type ReadPorts = Pick<WebSessionPorts, "table" | "now">;

/** The caller with the end of their session. `teams` are those that they are in. */
export function toSessionInfo({ user, credential }: PersonalPrincipal, teams: readonly Membership[]): SessionInfo {
  const expiresAt = credential.kind === "session" ? webSessionExpiry(credential.session) : credential.expiresAt;
  return {
    user: { uid: user.uid, display_name: user.displayName, email: user.email },
    teams: [...teams],
    ...(expiresAt === undefined ? {} : { expires_at: toTimestamp(expiresAt) }),
  };
}

/** The caller's sessions, oldest first. */
export async function listSessions(caller: PersonalPrincipal, { table, now }: ReadPorts): Promise<WebSessionItem[]> {
  const sessions = await webSessionStore(table).list(caller.user.uid);
  const open = sessions.filter((session) => webSessionExpiry(session) > now());
  return sortByText(open, ({ uid }) => uid).map((session) => ({
    uid: session.uid,
    created_at: toTimestamp(session.created_at),
    last_used_at: toTimestamp(session.last_used_at),
    expires_at: toTimestamp(webSessionExpiry(session)),
    ...(session.browser === undefined ? {} : { browser: session.browser }),
    current: isCurrent(session, caller),
  }));
}

const isCurrent = ({ uid }: WebSession, { credential }: PersonalPrincipal): boolean =>
  credential.kind === "session" && credential.session.uid === uid;

/** Ends the session of the request, if it has one, or all sessions of the caller. */
export async function signOut(
  { user, credential }: PersonalPrincipal,
  everywhere: boolean,
  { table }: ReadPorts,
): Promise<void> {
  const store = webSessionStore(table);
  if (everywhere) await store.delete(await store.list(user.uid));
  else if (credential.kind === "session") await store.delete([credential.session]);
}

/** Ends one of the caller's sessions. */
export async function endSession({ user }: PersonalPrincipal, uid: string, { table }: ReadPorts): Promise<void> {
  const store = webSessionStore(table);
  const session = (await store.list(user.uid)).find((one) => one.uid === uid);
  if (session === undefined) throw notFound("session");
  try {
    await store.deleteOne(session);
  } catch (error) {
    throw error instanceof ConflictError ? notFound("session") : error;
  }
}
