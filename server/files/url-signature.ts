import { createHmac, timingSafeEqual } from "node:crypto";
import { s3Error } from "./s3-errors.ts";

/** The names of S3's signed URLs, with a signature of our own. */
const ALGORITHM = "RUNYARD-HMAC-SHA256";
const SIGNATURE = "X-Amz-Signature";
const MAX_SECONDS = 7 * 24 * 3600;

export interface SignedRequest {
  readonly method: "GET" | "PUT";
  readonly key: string;
  /** What the response is to say about itself. */
  readonly response?: Readonly<Record<string, string>>;
  /** Headers that the request must have as they are here, with names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly seconds: number;
  /** Milliseconds. */
  readonly now: number;
}

/** The query of a URL that allows this one request for a while. */
export function signQuery(secret: Uint8Array, request: SignedRequest): URLSearchParams {
  const { method, key, response = {}, headers = {}, seconds, now } = request;
  const query = new URLSearchParams({
    "X-Amz-Algorithm": ALGORITHM,
    "X-Amz-Date": toCompactTime(now),
    "X-Amz-Expires": String(seconds),
    "X-Amz-SignedHeaders": Object.keys(headers).join(";"),
    ...response,
  });
  query.set(SIGNATURE, signatureOf(secret, method, key, query, new Headers(headers)));
  return query;
}

/** @throws S3Error where the request is not one that was signed, or its time is over */
export function checkQuery(
  secret: Uint8Array,
  request: {
    readonly method: string;
    readonly key: string;
    readonly query: URLSearchParams;
    readonly headers: Headers;
  },
  now: number,
): void {
  const { method, key, query, headers } = request;
  const given = query.getAll(SIGNATURE);
  if (given.length !== 1 || query.get("X-Amz-Algorithm") !== ALGORITHM) {
    throw s3Error("AccessDenied", "The URL is not signed.");
  }
  if (!isEqual(given[0] ?? "", signatureOf(secret, method, key, query, headers))) {
    throw s3Error("SignatureDoesNotMatch", "The request is not the one that the URL was signed for.");
  }
  const seconds = Number(query.get("X-Amz-Expires"));
  const end = parseCompactTime(query.get("X-Amz-Date") ?? "") + Math.min(seconds, MAX_SECONDS) * 1000;
  if (!(now < end)) throw s3Error("AccessDenied", "Request has expired");
}

export const hmac = (secret: Uint8Array, text: string): string =>
  createHmac("sha256", secret).update(text).digest("hex");

/** Compares in a time that tells nothing. */
export function isEqual(a: string, b: string): boolean {
  const [first, second] = [Buffer.from(a), Buffer.from(b)];
  return first.length === second.length && timingSafeEqual(first, second);
}

/** As `20260518T190000Z`. */
export const toCompactTime = (milliseconds: number): string =>
  new Date(milliseconds).toISOString().replace(/[-:]|\.\d{3}/g, "");

const parseCompactTime = (text: string): number =>
  Date.parse(text.replace(/^(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})Z$/, "$1-$2-$3T$4:$5:$6Z"));

/** Covers the method, the key, each parameter however often it is given, and the signed headers. */
function signatureOf(
  secret: Uint8Array,
  method: string,
  key: string,
  query: URLSearchParams,
  headers: Headers,
): string {
  const parameters = [...query].filter(([name]) => name !== SIGNATURE).map(([name, value]) => [name, value]);
  const signed = (query.get("X-Amz-SignedHeaders") ?? "").split(";").filter((name) => name !== "");
  const values = signed.map((name) => [name, headerOf(headers, name)]);
  return hmac(secret, JSON.stringify([method, key, parameters.map(String).toSorted(), values]));
}

const headerOf = (headers: Headers, name: string): string | null => {
  try {
    return headers.get(name);
  } catch {
    return null;
  }
};
