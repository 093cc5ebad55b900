import { readStored, store } from "../api/browser-storage.ts";

const RELOADED = "runyard.reloaded";
/** Reloading does not help a page that fails again within this time. */
const PAUSE_MS = 60_000;

/** A part of the app did not arrive: the network is gone, or a deployment has replaced the files of the app that is open. */
export class MissingPartError extends Error {
  constructor(cause: unknown) {
    super("A part of the app could not be loaded. It is loaded again as soon as the service can be reached.", {
      cause,
    });
  }
}

let wasUnreachable = false;

/**
 * Loads the app again if the service can be reached; the browser would show its own error in place of the app otherwise. Not more
 * than once a minute, unless the service was out of reach meanwhile, which explains what is missing.
 */
export async function reloadIfReachable(): Promise<void> {
  const isSoon = Date.now() - Number(readStored("sessionStorage", RELOADED) ?? 0) < PAUSE_MS;
  if (isSoon && !wasUnreachable) return;
  const response = await fetch("/", { method: "HEAD", cache: "no-store" }).catch(() => undefined);
  if (response?.ok && wasUnreachable) return location.reload();
  wasUnreachable = response?.ok !== true;
  // Without storage, the page that is loaded next would not know of this reload, and could repeat it without end.
  if (response?.ok && store("sessionStorage", RELOADED, String(Date.now()))) location.reload();
}
