/** After every time there will be. */
const LAST_TIME = 9_999_999_999_999;

/** A text that sorts a later time, in milliseconds, before an earlier one. */
export const latestFirst = (milliseconds: number): string => String(LAST_TIME - milliseconds).padStart(13, "0");

/** A text that sorts names without regard to case and width. */
export const byName = (name: string): string => name.normalize("NFKC").toLowerCase();
