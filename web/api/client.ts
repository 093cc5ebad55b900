import { APIError, type Fetch, Runyard } from "../../clients/typescript/src/index.ts";
import { dropEarlyResponses, takeEarlyResponse } from "./early-responses.ts";
import { teamForRequest } from "./team-choice.ts";

/** The API is on the origin that serves the app, so no request leaves it. */
export const API_BASE = `${location.origin}/api/v1`;

const sendToOwnOrigin: Fetch = (url, init) => {
  const options = { ...init, cache: "no-store", referrerPolicy: "no-referrer" } as const;
  // Signed URLs of the storage carry their own authorization.
  if (!isOwnOrigin(url)) return fetch(url, { ...options, credentials: "omit" });
  // What a request changes, such as who is signed in, may make early responses untrue.
  if (init.method !== "GET") dropEarlyResponses();
  const early = takeEarlyResponse(url, init.signal);
  if (early !== undefined) return early;
  const headers = new Headers(init.headers);
  // The cookie of the session takes the place of a key, so that no script can read what authenticates.
  headers.delete("authorization");
  const team = teamForRequest(url);
  if (team !== undefined && !headers.has("x-team-uid")) headers.set("x-team-uid", team);
  return fetch(url, { ...options, headers, credentials: "same-origin" });
};

const isOwnOrigin = (url: string): boolean => url.startsWith(`${API_BASE}/`);

/** The client of the API for the person who is signed in. */
export const client = new Runyard({
  baseURL: API_BASE,
  apiKey: "session",
  headers: { "x-run-source": "WEB_APP" },
  maxRetries: 2,
  timeout: 30_000,
  fetch: sendToOwnOrigin,
});

/** Whether the error says that the caller is not signed in. */
export const isSignedOut = (error: unknown): boolean => error instanceof APIError && error.status === 401;
