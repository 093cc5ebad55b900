import * as v from "valibot";
import { DiscoveryFailure } from "./discovery-failure.ts";
import { RETRY_SECONDS } from "./skill-store.ts";

/** GitHub's REST API. */
export interface GithubApi {
  /** Its address without a slash at the end, `https://api.github.com` for the public one. */
  readonly apiUrl: string;
  readonly fetch: typeof fetch;
  readonly now: () => number;
}

/** Milliseconds that one response may take. */
const RESPONSE_MS = 8_000;
/** Bytes of one response; GitHub's own limit for a tree is 7 MB. */
const MAX_RESPONSE_BYTES = 8 * 1024 * 1024;
/** Redirects that are followed: a repository may have moved. */
const MAX_REDIRECTS = 3;
/** Maximum of the seconds until the next request, even if GitHub says more. */
const MAX_RETRY_SECONDS = 3600;

/** A response with content, or that nothing has changed since the one with this ETag. */
export type GithubResponse<T> =
  | {
      readonly changed: true;
      readonly body: T;
      readonly etag?: string;
      /** The URL that responded, which is another one where the resource has moved. */
      readonly url: string;
    }
  | { readonly changed: false };

interface GithubRequest<T> {
  /** Path below the API's address, with its query. */
  readonly path: string;
  readonly token: string | undefined;
  readonly etag?: string | undefined;
  /** The JSON body of a POST. @default the request is a GET */
  readonly body?: object;
  /** The media type of the response. @default that of the API, which GitHub's pages refuse */
  readonly accept?: string;
  /** The result for an empty repository. @default an empty repository is a failure */
  readonly ifEmpty?: T;
  /** The name of the resource in messages. */
  readonly what: string;
  /** For the message: why GitHub may hide an existing resource, and what to do. @default its token may not read it */
  readonly ifHidden?: string;
}

/** GitHub has understood the request and refuses it. */
export class GithubRefusal extends DiscoveryFailure {
  readonly status: number;
  /** GitHub's own message. */
  readonly said: string;

  constructor(status: number, said: string, ...failure: ConstructorParameters<typeof DiscoveryFailure>) {
    super(...failure);
    this.name = "GithubRefusal";
    this.status = status;
    this.said = said;
  }
}

/**
 * Sends a request to GitHub, a conditional one where it has an ETag.
 * @throws DiscoveryFailure with the cause and the time of the next attempt; GithubRefusal where GitHub refuses the request
 */
export async function requestGithub<T>(
  schema: v.GenericSchema<unknown, T>,
  request: GithubRequest<T>,
  github: GithubApi,
): Promise<GithubResponse<T>> {
  const response = await send(request, github);
  if (response.status === 304) return { changed: false };
  if (response.status === 409 && request.ifEmpty !== undefined) {
    await response.body?.cancel();
    return { changed: true, body: request.ifEmpty, url: response.url };
  }
  if (response.status !== 200 && response.status !== 201) throw await toFailure(response, request, github);
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), schema), await readText(response, request, github));
  if (!parsed.success) throw toOutage(`GitHub's response about ${request.what} is not as documented`, github);
  const etag = response.headers.get("etag");
  return { changed: true, body: parsed.output, url: response.url, ...(etag === null ? {} : { etag }) };
}

type Sent = Omit<GithubRequest<unknown>, "ifEmpty">;

async function send(
  { path, token, etag, body, accept = "application/vnd.github+json", what }: Sent,
  github: GithubApi,
): Promise<Response> {
  const headers = {
    accept,
    "x-github-api-version": "2022-11-28",
    "user-agent": "runyard",
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...(etag === undefined ? {} : { "if-none-match": etag }),
    ...(body === undefined ? {} : { "content-type": "application/json" }),
  };
  const signal = AbortSignal.timeout(RESPONSE_MS);
  const posted = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
  let url = new URL(`${github.apiUrl}${path}`);
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const response = await github.fetch(url, { ...posted, headers, signal, redirect: "manual" }).catch(() => {
      throw toOutage(`GitHub does not respond about ${what}`, github);
    });
    const location = response.headers.get("location");
    if (response.status < 300 || response.status === 304 || response.status >= 400 || location === null)
      return response;
    await response.body?.cancel();
    const next = new URL(location, url);
    // The token is sent to the API only, not to other hosts that it redirects to.
    if (next.origin !== url.origin) break;
    url = next;
  }
  throw new DiscoveryFailure("resource_not_found", `GitHub redirects ${what} to another address`, retryTime(github));
}

/** Reads the text of a response up to the maximum size. */
async function readText(response: Response, { what }: Pick<Sent, "what">, github: GithubApi): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response.body ?? []) {
      bytes += chunk.length;
      if (bytes > MAX_RESPONSE_BYTES) break;
      chunks.push(chunk);
    }
  } catch {
    throw toOutage(`GitHub's response about ${what} broke off`, github);
  }
  if (bytes > MAX_RESPONSE_BYTES)
    throw toOutage(`GitHub's response about ${what} has more than ${MAX_RESPONSE_BYTES} bytes`, github);
  return Buffer.concat(chunks).toString();
}

const Complaint = v.pipe(v.string(), v.parseJson(), v.object({ message: v.string() }));

async function toFailure(response: Response, request: Sent, github: GithubApi): Promise<DiscoveryFailure> {
  const { status } = response;
  const { what, token } = request;
  const complaint = v.safeParse(Complaint, await readText(response, request, github).catch(() => ""));
  const message = complaint.success
    ? (complaint.output.message.split("\n")[0] ?? "").slice(0, 200)
    : `status ${status}`;
  const wait = limitedUntil(response, message, github);
  if (wait !== undefined) {
    const remedy = token === undefined ? "; with a token it allows many more" : "";
    return new DiscoveryFailure("resource_unavailable", `GitHub's rate limit is reached${remedy}`, wait, true);
  }
  if (status === 404 || status === 451 || status === 422) {
    const why = `GitHub shows no ${what}: there is none, or ${request.ifHidden ?? "its token may not read it"}`;
    return new GithubRefusal(status, message, "resource_not_found", why, retryTime(github));
  }
  if (status === 401 || status === 403) {
    const why = status === 401 ? "GitHub does not accept the token" : `GitHub refuses ${what}`;
    return new GithubRefusal(
      status,
      message,
      "external_authentication_required",
      `${why}: ${message}`,
      retryTime(github),
    );
  }
  return toOutage(`GitHub could not respond about ${what}: ${message}`, github);
}

/** When GitHub accepts requests again; undefined for a response that is no rate limit. */
function limitedUntil({ status, headers }: Response, message: string, github: GithubApi): number | undefined {
  if (status !== 403 && status !== 429) return undefined;
  const retryAfter = Number(headers.get("retry-after") ?? Number.NaN);
  const reset = Number(headers.get("x-ratelimit-reset") ?? Number.NaN);
  const isSpent = headers.get("x-ratelimit-remaining") === "0";
  if (status === 403 && !isSpent && Number.isNaN(retryAfter) && !/rate limit/i.test(message)) return undefined;
  const seconds = !Number.isNaN(retryAfter)
    ? retryAfter
    : isSpent && !Number.isNaN(reset)
      ? reset - github.now() / 1000
      : RETRY_SECONDS;
  return github.now() + Math.ceil(Math.min(Math.max(seconds, 1), MAX_RETRY_SECONDS)) * 1000;
}

const retryTime = ({ now }: GithubApi): number => now() + RETRY_SECONDS * 1000;
/** Returns the failure of a GitHub outage, which may be over in a minute. */
export const toOutage = (message: string, github: GithubApi): DiscoveryFailure =>
  new DiscoveryFailure("resource_unavailable", message, retryTime(github));
