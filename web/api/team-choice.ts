const NAME = "runyard.team";

/** The team that a person with several teams has chosen in this browser. */
export function selectedTeam(): string | undefined {
  try {
    return localStorage.getItem(NAME) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Sessions are those of a person. Their requests succeed whatever team is chosen, so that a choice can be corrected. */
const SESSIONS = /\/api\/v1\/sessions?([/?]|$)/;

/** The team that a request to an address of the API names. */
export const teamForRequest = (url: string): string | undefined => (SESSIONS.test(url) ? undefined : selectedTeam());

export function selectTeam(uid: string | undefined): void {
  try {
    if (uid === undefined) localStorage.removeItem(NAME);
    else localStorage.setItem(NAME, uid);
  } catch {
    // Without storage, the choice lasts until the next page load only, and the first team applies.
  }
}
