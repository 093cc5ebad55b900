/** A calendar month of a team, in UTC. It counts what the calls cost that the team's runs begin in it. */
export interface TeamMonth {
  readonly team: string;
  /** Such as 2026-11. */
  readonly month: string;
  /** Milliseconds: the first moment of the next month, with which the team's budget renews. */
  readonly endsAt: number;
}

/** The month of a team that includes the time `at`, in milliseconds. */
export function teamMonth(team: string, at: number): TeamMonth {
  const date = new Date(at);
  return {
    team,
    month: date.toISOString().slice(0, "2026-11".length),
    endsAt: Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1),
  };
}
