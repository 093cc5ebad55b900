import * as v from "valibot";
import { RunSearch } from "./run-search.ts";
import { readViewsText, storeViewsText } from "./views-text.ts";

const Views = v.pipe(v.string(), v.parseJson(), v.array(v.object({ name: v.string(), search: RunSearch })));
export type SavedView = v.InferOutput<typeof Views>[number];

/** Views that a person may save. */
const MAX_VIEWS = 20;

/** The filters that a person has saved under names in this browser. */
export function readSavedViews(user: string): readonly SavedView[] {
  const stored = v.safeParse(Views, readViewsText(user));
  return stored.success ? stored.output : [];
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

const write = (user: string, views: readonly SavedView[]): void =>
  storeViewsText(user, views.length === 0 ? undefined : JSON.stringify(views));

/** Whether two sets of filters select the same runs. */
export const isSameSearch = (a: RunSearch, b: RunSearch): boolean => toText(a) === toText(b);

const toText = (search: RunSearch): string =>
  JSON.stringify(
    Object.entries(search)
      .filter(([, value]) => value !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
