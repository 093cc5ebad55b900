import { readStored, store } from "./browser-storage.ts";

const NAME = "runyard.team";

/** The team that a person with several teams has chosen in this browser. */
export const selectedTeam = (): string | undefined => readStored("localStorage", NAME);

/** Sessions are those of a person. Their requests succeed whatever team is chosen, so that a choice can be corrected. */
const SESSIONS = /\/api\/v1\/sessions?([/?]|$)/;

/** The team that a request to an address of the API names. */
export const teamForRequest = (url: string): string | undefined => (SESSIONS.test(url) ? undefined : selectedTeam());

export const selectTeam = (uid: string | undefined): void => void store("localStorage", NAME, uid);

/** Calls the listener when another tab has chosen a team, which is that of the requests of all tabs. */
export const onTeamChoice = (listener: () => void): void =>
  addEventListener("storage", ({ key }) => {
    if (key === NAME || key === null) listener();
  });
