import * as v from "valibot";
import { DiscoveryFailure } from "./discovery-failure.ts";
import { RETRY_SECONDS } from "./found-skills.ts";

/** GitHub's REST API. */
export interface GithubApi {
  /** Its address without a slash at the end, `https://api.github.com` for the public one. */
  readonly apiUrl: string;
  readonly fetch: typeof fetch;
  readonly now: () => number;
}

/** Milliseconds that one answer may take. */
const ANSWER_MS = 8_000;
/** Bytes of one answer; GitHub's own limit for a tree is 7 MB. */
const ANSWER_BYTES = 8 * 1024 * 1024;
/** Times that a repository may have moved. */
const MAX_MOVES = 3;
/** Seconds that are waited at most, whatever GitHub says. */
const RETRY_SECONDS_MOST = 3600;

/** An answer with content, or the word that nothing has changed since the one with this tag. */
export type GithubAnswer<T> =
  | {
      readonly changed: true;
      readonly body: T;
      readonly etag?: string;
      /** The address that answered, which is another one where what was asked about has moved. */
      readonly url: string;
    }
  | { readonly changed: false };

interface GithubRequest<T> {
  /** Path below the API's address, with its query. */
  readonly path: string;
  readonly token: string | undefined;
  readonly etag?: string | undefined;
  /** What is posted, as JSON. @default nothing: it is a GET */
  readonly body?: object;
  /** What it comes to where the repository is empty. @default an empty repository is a failure */
  readonly ifEmpty?: T;
  /** What is asked about, for messages. */
  readonly what: string;
  /** Why GitHub may hide what is there, and what helps, for the message. @default its token may not read it */
  readonly ifHidden?: string;
}

/** GitHub understood what it was asked for, and refuses it. */
export class GithubRefusal extends DiscoveryFailure {
  readonly status: number;
  /** GitHub's own words. */
  readonly said: string;

  constructor(status: number, said: string, ...failure: ConstructorParameters<typeof DiscoveryFailure>) {
    super(...failure);
    this.name = "GithubRefusal";
    this.status = status;
    this.said = said;
  }
}

/**
 * Asks GitHub for something, conditionally where a tag is given.
 * @throws DiscoveryFailure that says whose fault it is and when another try may help, a GithubRefusal where it is not GitHub's
 */
export async function askGithub<T>(
  schema: v.GenericSchema<unknown, T>,
  request: GithubRequest<T>,
  github: GithubApi,
): Promise<GithubAnswer<T>> {
  const response = await sent(request, github);
  if (response.status === 304) return { changed: false };
  if (response.status === 409 && request.ifEmpty !== undefined) {
    await response.body?.cancel();
    return { changed: true, body: request.ifEmpty, url: response.url };
  }
  if (response.status !== 200 && response.status !== 201) throw await refusal(response, request, github);
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), schema), await textOf(response, request, github));
  if (!parsed.success) throw outage(`GitHub's answer about ${request.what} is not what it documents`, github);
  const etag = response.headers.get("etag");
  return { changed: true, body: parsed.output, url: response.url, ...(etag === null ? {} : { etag }) };
}

type Sent = Omit<GithubRequest<unknown>, "ifEmpty">;

async function sent({ path, token, etag, body, what }: Sent, github: GithubApi): Promise<Response> {
  const headers = {
    accept: "application/vnd.github+json",
    "x-github-api-version": "2022-11-28",
    "user-agent": "runyard",
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...(etag === undefined ? {} : { "if-none-match": etag }),
  };
  const signal = AbortSignal.timeout(ANSWER_MS);
  const posted = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
  let url = new URL(`${github.apiUrl}${path}`);
  for (let moves = 0; moves <= MAX_MOVES; moves++) {
    const response = await github.fetch(url, { ...posted, headers, signal, redirect: "manual" }).catch(() => {
      throw outage(`GitHub does not answer about ${what}`, github);
    });
    const location = response.headers.get("location");
    if (response.status < 300 || response.status === 304 || response.status >= 400 || location === null)
      return response;
    await response.body?.cancel();
    const next = new URL(location, url);
    // A token goes to the API and to nobody that it may name.
    if (next.origin !== url.origin) break;
    url = next;
  }
  throw new DiscoveryFailure("resource_not_found", `GitHub leads elsewhere for ${what}`, later(github));
}

/** The text of an answer, as long as it is not more than any answer should be. */
async function textOf(response: Response, { what }: Pick<Sent, "what">, github: GithubApi): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response.body ?? []) {
      bytes += chunk.length;
      if (bytes > ANSWER_BYTES) break;
      chunks.push(chunk);
    }
  } catch {
    throw outage(`GitHub's answer about ${what} broke off`, github);
  }
  if (bytes > ANSWER_BYTES) throw outage(`GitHub's answer about ${what} has more than ${ANSWER_BYTES} bytes`, github);
  return Buffer.concat(chunks).toString();
}

const Complaint = v.pipe(v.string(), v.parseJson(), v.object({ message: v.string() }));

async function refusal(response: Response, request: Sent, github: GithubApi): Promise<DiscoveryFailure> {
  const { status } = response;
  const { what, token } = request;
  const said = v.safeParse(Complaint, await textOf(response, request, github).catch(() => ""));
  const message = said.success ? (said.output.message.split("\n")[0] ?? "").slice(0, 200) : `status ${status}`;
  const wait = limitedUntil(response, message, github);
  if (wait !== undefined) {
    const remedy = token === undefined ? "; with a token it allows many more" : "";
    return new DiscoveryFailure("resource_unavailable", `GitHub's rate limit is reached${remedy}`, wait, true);
  }
  if (status === 404 || status === 451 || status === 422) {
    const why = `GitHub shows no ${what}: there is none, or ${request.ifHidden ?? "its token may not read it"}`;
    return new GithubRefusal(status, message, "resource_not_found", why, later(github));
  }
  if (status === 401 || status === 403) {
    const why = status === 401 ? "GitHub does not accept the token" : `GitHub refuses ${what}`;
    return new GithubRefusal(status, message, "external_authentication_required", `${why}: ${message}`, later(github));
  }
  return outage(`GitHub could not answer about ${what}: ${message}`, github);
}

/** When GitHub takes requests again, where this answer says that it takes none now. */
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
  return github.now() + Math.ceil(Math.min(Math.max(seconds, 1), RETRY_SECONDS_MOST)) * 1000;
}

const later = ({ now }: GithubApi): number => now() + RETRY_SECONDS * 1000;
/** A failure that is nobody's fault here, and may be over in a minute. */
export const outage = (message: string, github: GithubApi): DiscoveryFailure =>
  new DiscoveryFailure("resource_unavailable", message, later(github));
