import * as v from "valibot";
import { readStored, store } from "./browser-storage.ts";

const NAME = "runyard.drafts";
/** What a person has written and not sent yet, with the Idempotency-Key of requests that send it. */
const Kept = v.object({ key: v.string(), value: v.unknown() });
type Kept = v.InferOutput<typeof Kept>;
const Stored = v.pipe(v.string(), v.parseJson(), v.object({ user: v.string(), drafts: v.record(v.string(), Kept) }));

/** The drafts of a person in this tab, by name. Those of somebody else who was signed in before are not read. */
export function readDrafts(user: string): Readonly<Record<string, Kept>> {
  const stored = v.safeParse(Stored, readStored("sessionStorage", NAME));
  return stored.success && stored.output.user === user ? stored.output.drafts : {};
}

/** Keeps a draft until it is replaced or removed, the person signs out, or the tab is closed. */
export function keepDraft(user: string, name: string, draft: Kept | undefined): void {
  const { [name]: _, ...others } = readDrafts(user);
  const drafts = draft === undefined ? others : { ...others, [name]: draft };
  store("sessionStorage", NAME, JSON.stringify({ user, drafts }));
}

export const dropDrafts = (): void => void store("sessionStorage", NAME, undefined);
