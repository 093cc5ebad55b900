/** Where the values of secrets are. The table knows their names alone. */
export interface SecretVault {
  /** Keeps a value under an id that is used once. */
  put(team: string, id: string, value: string): Promise<void>;
  /** The values that there are of one team, by their ids. */
  getAll(team: string, ids: readonly string[]): Promise<Map<string, string>>;
  /** Forgets a value; one that is not there is forgotten already. */
  remove(team: string, id: string): Promise<void>;
}
