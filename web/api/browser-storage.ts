/** What the browser does not keep, because it blocks storage or has none left: it lasts until the next page load. */
const ofThisPage = new Map<string, string>();

/** `localStorage` is of all tabs; `sessionStorage` is of this tab and ends with it. */
type StorageName = "localStorage" | "sessionStorage";

/** Reads what was stored under a name. */
export function readStored(storage: StorageName, name: string): string | undefined {
  try {
    return ofThisPage.get(name) ?? globalThis[storage].getItem(name) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Stores a value, or removes it. Returns whether it outlasts the page. */
export function store(storage: StorageName, name: string, value: string | undefined): boolean {
  ofThisPage.delete(name);
  try {
    // Even to name the storage throws where the browser blocks it.
    if (value === undefined) globalThis[storage].removeItem(name);
    else globalThis[storage].setItem(name, value);
    return true;
  } catch {
    if (value !== undefined) ofThisPage.set(name, value);
    return false;
  }
}
