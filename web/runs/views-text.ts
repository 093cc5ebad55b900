import { readStored, store } from "../api/browser-storage.ts";

const nameFor = (user: string): string => `runyard.views.${user}`;
const listeners = new Set<() => void>();

/** Calls the listener when a view was saved or removed in this tab. */
export function onViewsChange(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** The text that a person's views are stored as. The list of runs loads the rest only for people who have views. */
export const readViewsText = (user: string): string | undefined => readStored("localStorage", nameFor(user));

export function storeViewsText(user: string, text: string | undefined): void {
  store("localStorage", nameFor(user), text);
  for (const notify of listeners) notify();
}
