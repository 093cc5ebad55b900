import * as v from "valibot";
import { readStored, store } from "./browser-storage.ts";

const NAME = "runyard.drafts";
const Stored = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({ user: v.string(), drafts: v.record(v.string(), v.unknown()) }),
);

/** What a person has written in this tab and not sent yet, by name. Those of somebody else who was signed in before are not read. */
export function readDrafts(user: string): Readonly<Record<string, unknown>> {
  const stored = v.safeParse(Stored, readStored("sessionStorage", NAME));
  return stored.success && stored.output.user === user ? stored.output.drafts : {};
}

/** Keeps a draft, unless it is undefined, until it is replaced or removed, the person signs out, or the tab is closed. */
export function keepDraft(user: string, name: string, draft: unknown): void {
  const { [name]: _, ...others } = readDrafts(user);
  const drafts = draft === undefined ? others : { ...others, [name]: draft };
  store("sessionStorage", NAME, JSON.stringify({ user, drafts }));
}

export const dropDrafts = (): void => void store("sessionStorage", NAME, undefined);
