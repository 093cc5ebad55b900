/** A calendar month of a team, in UTC. It counts what the calls cost that the team's runs begin in it. */
export interface TeamMonth {
  readonly team: string;
  /** Such as 2026-11. */
  readonly month: string;
  /** Milliseconds: the first moment of the next month, with which the team's budget renews. */
  readonly endsAt: number;
}

/** A calendar month of an API key, in UTC: likewise, of the runs that were created with the key, and their descendants. */
export interface KeyMonth extends Pick<TeamMonth, "month" | "endsAt"> {
  /** The hash of the key. */
  readonly key: string;
}

/** The month of a key that includes the time `at`, in milliseconds. */
export const keyMonth = (key: string, at: number): KeyMonth => ({ key, ...monthAt(at) });

/** The month of a team that includes the time `at`, in milliseconds. */
export const teamMonth = (team: string, at: number): TeamMonth => ({ team, ...monthAt(at) });

function monthAt(at: number): Pick<TeamMonth, "month" | "endsAt"> {
  const date = new Date(at);
  return {
    month: date.toISOString().slice(0, "2026-11".length),
    endsAt: Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1),
  };
}
