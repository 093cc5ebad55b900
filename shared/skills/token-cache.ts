/** Milliseconds before its expiry at which a token is no longer used, since the work that it is for takes a while. */
const SPARE_MS = 5 * 60_000;

/** Tokens in memory, by what they are for, until shortly before they expire. */
export class TokenCache<T extends { readonly expiresAt: number }> {
  readonly #tokens = new Map<string, T>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  get(key: string): T | undefined {
    for (const [one, { expiresAt }] of this.#tokens) {
      if (expiresAt - SPARE_MS <= this.#now()) this.#tokens.delete(one);
    }
    return this.#tokens.get(key);
  }

  set(key: string, token: T): void {
    this.#tokens.set(key, token);
  }

  delete(key: string): void {
    this.#tokens.delete(key);
  }
}
