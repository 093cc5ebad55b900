/** Stores the values of secrets, encrypted. */
export interface SecretVault {
  /** Stores a value under an id that is used once. */
  put(team: string, id: string, value: string): Promise<void>;
  /** Replaces a value; does nothing if it is deleted, or was stored by an earlier release. */
  replace(team: string, id: string, value: string): Promise<void>;
  /** Reads the existing values of one team, by their ids. */
  getAll(team: string, ids: readonly string[]): Promise<Map<string, string>>;
  /** Deletes a value; does nothing if there is none. */
  remove(team: string, id: string): Promise<void>;
}
