import { createHmac, timingSafeEqual } from "node:crypto";
import { s3Error } from "./s3-errors.ts";

/** The parameters of S3's signed URLs are used with a different algorithm. */
const ALGORITHM = "RUNYARD-HMAC-SHA256";
const SIGNATURE = "X-Amz-Signature";
const MAX_SECONDS = 7 * 24 * 3600;

export interface SignedRequest {
  readonly method: "GET" | "PUT";
  readonly key: string;
  /** Parameters that set response headers. */
  readonly response?: Readonly<Record<string, string>>;
  /** Headers that the request must send with these values; names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly seconds: number;
  /** Milliseconds. */
  readonly now: number;
}

/** Creates the query of a URL that authorizes one request for a limited time. */
export function signQuery(secret: Uint8Array, request: SignedRequest): URLSearchParams {
  const { method, key, response = {}, headers = {}, seconds, now } = request;
  const query = new URLSearchParams({
    "X-Amz-Algorithm": ALGORITHM,
    "X-Amz-Date": toCompactTime(now),
    "X-Amz-Expires": String(seconds),
    "X-Amz-SignedHeaders": Object.keys(headers).join(";"),
    ...response,
  });
  query.set(SIGNATURE, computeSignature(secret, method, key, query, new Headers(headers)));
  return query;
}

/** @throws S3Error if the signature does not match the request or has expired */
export function verifyQuery(
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
  const signatures = query.getAll(SIGNATURE);
  if (signatures.length !== 1 || query.get("X-Amz-Algorithm") !== ALGORITHM) {
    throw s3Error("AccessDenied", "The URL is not signed.");
  }
  if (!isEqual(signatures[0] ?? "", computeSignature(secret, method, key, query, headers))) {
    throw s3Error("SignatureDoesNotMatch", "The request is not the one that the URL was signed for.");
  }
  const seconds = Number(query.get("X-Amz-Expires"));
  const end = parseCompactTime(query.get("X-Amz-Date") ?? "") + Math.min(seconds, MAX_SECONDS) * 1000;
  if (!(now < end)) throw s3Error("AccessDenied", "Request has expired");
}

export const computeHmac = (secret: Uint8Array, text: string): string =>
  createHmac("sha256", secret).update(text).digest("hex");

/** Compares in constant time. */
export function isEqual(a: string, b: string): boolean {
  const [first, second] = [Buffer.from(a), Buffer.from(b)];
  return first.length === second.length && timingSafeEqual(first, second);
}

/** As `20260518T190000Z`. */
export const toCompactTime = (milliseconds: number): string =>
  new Date(milliseconds).toISOString().replace(/[-:]|\.\d{3}/g, "");

const parseCompactTime = (text: string): number =>
  Date.parse(text.replace(/^(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})Z$/, "$1-$2-$3T$4:$5:$6Z"));

/** Signs the method, the key, all parameters including repeated ones, and the signed headers. */
function computeSignature(
  secret: Uint8Array,
  method: string,
  key: string,
  query: URLSearchParams,
  headers: Headers,
): string {
  const parameters = [...query].filter(([name]) => name !== SIGNATURE).map(([name, value]) => [name, value]);
  const signed = (query.get("X-Amz-SignedHeaders") ?? "").split(";").filter((name) => name !== "");
  const values = signed.map((name) => [name, readHeader(headers, name)]);
  return computeHmac(secret, JSON.stringify([method, key, parameters.map(String).toSorted(), values]));
}

const readHeader = (headers: Headers, name: string): string | null => {
  try {
    return headers.get(name);
  } catch {
    return null;
  }
};
