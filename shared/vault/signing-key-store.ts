/** Stores the keys that sign the identity tokens of runs, as one text that only the service can read. */
export interface SigningKeyStore {
  /** Undefined if there is none yet. */
  read(): Promise<string | undefined>;
  /** Stores the first text. @returns false if there is one already, which stays */
  create(content: string): Promise<boolean>;
  replace(content: string): Promise<void>;
}
