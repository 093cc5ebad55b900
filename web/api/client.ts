import { APIError, type Fetch, Runyard } from "../../clients/typescript/src/index.ts";
import { dropEarlyResponses, takeEarlyResponse } from "./early-responses.ts";
import { sendOnce } from "./send-once.ts";
import { teamForRequest } from "./team-choice.ts";

/** The API is on the origin that serves the app, so no request leaves it. */
export const API_BASE = `${location.origin}/api/v1`;

const sendToOwnOrigin: Fetch = async (url, init) => {
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
  const send = () => fetch(url, { ...options, headers, credentials: "same-origin" });
  if (init.method === "GET") return send();
  if (init.method !== "POST") return refuseLongWait(await send());
  const content = [url, headers.get("x-team-uid") ?? "", init.body ?? ""].join("\n");
  const response = await sendOnce(content, headers.get("idempotency-key") ?? "", (key) => {
    headers.set("idempotency-key", key);
    return send();
  });
  return refuseLongWait(response);
};

/** A person learns at once that an action is refused for longer, instead of waiting without knowing why. */
const MAX_WAIT_SECONDS = 5;

function refuseLongWait(response: Response): Response {
  if (!(Number(response.headers.get("retry-after")) > MAX_WAIT_SECONDS)) return response;
  const headers = new Headers(response.headers);
  headers.set("x-should-retry", "false");
  return new Response(response.body, { status: response.status, headers });
}

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
