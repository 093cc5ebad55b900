import * as v from "valibot";
import { readStored, store } from "../api/browser-storage.ts";
import { RunSearch } from "./run-search.ts";

const Views = v.pipe(v.string(), v.parseJson(), v.array(v.object({ name: v.string(), search: RunSearch })));
export type SavedView = v.InferOutput<typeof Views>[number];

/** Views that a person may save. */
const MAX_VIEWS = 20;
const nameFor = (user: string): string => `runyard.views.${user}`;

const listeners = new Set<() => void>();

/** Calls the listener when a view was saved or removed in this tab. */
export function onViewsChange(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** The text that a person's views are stored as. */
export const readViewsText = (user: string): string | undefined => readStored("localStorage", nameFor(user));

/** The filters that a person has saved under names in this browser. */
export function readSavedViews(user: string): readonly SavedView[] {
  const kept = v.safeParse(Views, readViewsText(user));
  return kept.success ? kept.output : [];
}

/** Saves filters under a name, in place of those that had it. */
export function saveView(user: string, name: string, search: RunSearch): void {
  const others = readSavedViews(user).filter((view) => view.name !== name);
  write(user, [...others, { name, search }].slice(-MAX_VIEWS));
}

export const dropView = (user: string, name: string): void =>
  write(
    user,
    readSavedViews(user).filter((view) => view.name !== name),
  );

function write(user: string, views: readonly SavedView[]): void {
  store("localStorage", nameFor(user), views.length === 0 ? undefined : JSON.stringify(views));
  for (const notify of listeners) notify();
}

/** Whether two sets of filters select the same runs. */
export const isSameSearch = (a: RunSearch, b: RunSearch): boolean => toText(a) === toText(b);

const toText = (search: RunSearch): string =>
  JSON.stringify(
    Object.entries(search)
      .filter(([, value]) => value !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
