/** Stores a set of keys as one text that only the service can read. */
export interface KeySetStore {
  /** Undefined if there is none yet. */
  read(): Promise<string | undefined>;
  /** Stores the first text. @returns false if there is one already, which stays */
  create(content: string): Promise<boolean>;
  replace(content: string): Promise<void>;
}
