/** Where the values of secrets are. The table knows their names alone. */
export interface SecretVault {
  /** Keeps a value under an id that is used once. */
  put(team: string, id: string, value: string): Promise<void>;
  /** The value, or undefined where there is none. */
  get(team: string, id: string): Promise<string | undefined>;
  /** Forgets a value; one that is not there is forgotten already. */
  remove(team: string, id: string): Promise<void>;
}
