import { RunyardError } from "#shared/errors.ts";

/** Browsers send a cookie with this prefix only to the very host that set it, over TLS. */
const SECURE_NAME = "__Host-runyard";
/** Over plain HTTP, which is for this machine and trusted networks, browsers do not keep secure cookies. */
const PLAIN_NAME = "runyard";

/** The addresses of the deployment. */
export interface Origins {
  readonly baseUrl: string;
  /** Address of the web app, if there is one. */
  readonly webUrl: string | undefined;
}

/** Reads a header of the request by its lower-case name. */
type ReadHeader = (name: string) => string | undefined;

/** The session token that the request's cookie has, if any. */
export function readSessionCookie(header: ReadHeader, origins: Origins): string | undefined {
  const pairs = header("cookie")?.split(/;\s*/) ?? [];
  const findValue = (name: string) => pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1);
  const secure = findValue(SECURE_NAME);
  // A page of a neighboring host name can set a cookie without the prefix, which would sign the person in as somebody else.
  return secure ?? (acceptsPlainCookie(header, origins) ? findValue(PLAIN_NAME) : undefined);
}

const acceptsPlainCookie = (header: ReadHeader, { baseUrl }: Origins): boolean =>
  baseUrl.startsWith("http:") || isLoopbackHost(header("host"));

/** The Set-Cookie header that stores a session token in the browser. */
export const storeSessionCookie = (
  token: string,
  lifetimeSeconds: number,
  header: ReadHeader,
  origins: Origins,
): string => formatCookie(token, lifetimeSeconds, isPlain(header, origins));

/** The Set-Cookie header that removes the session token from the browser. */
export const clearSessionCookie = (header: ReadHeader, origins: Origins): string =>
  formatCookie("", 0, isPlain(header, origins));

/** Whether the page that sends the request was loaded over plain HTTP. Without an Origin header, the deployment's address decides. */
const isPlain = (header: ReadHeader, { baseUrl }: Origins): boolean =>
  (header("origin") ?? baseUrl).startsWith("http:");

function formatCookie(value: string, maxAgeSeconds: number, isPlainHttp: boolean): string {
  const name = isPlainHttp ? PLAIN_NAME : SECURE_NAME;
  const attributes = `Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; ${isPlainHttp ? "" : "Secure; "}SameSite=Lax`;
  return `${name}=${value}; ${attributes}`;
}

/**
 * Refuses a request that a page of another origin may have sent with the person's cookie (CSRF).
 * @throws RunyardError `not_authorized`
 */
export function refuseForeignOrigin(header: ReadHeader, origins: Origins): void {
  if (isOwnOrigin(header("origin"), header("host"), origins)) return;
  throw new RunyardError("not_authorized", {
    detail: "Origin: a request that changes something in a web session must come from a page of this service",
  });
}

/**
 * Refuses a request of a page of another origin, such as one whose name resolves to this machine (DNS rebinding). Programs send no
 * Origin header.
 * @throws RunyardError `not_authorized`
 */
export function refuseForeignPage(header: ReadHeader, origins: Origins): void {
  const origin = header("origin");
  if (origin === undefined || isOwnOrigin(origin, header("host"), origins)) return;
  throw new RunyardError("not_authorized", { detail: "Origin: pages of other origins cannot use this address" });
}

function isOwnOrigin(origin: string | undefined, host: string | undefined, { baseUrl, webUrl }: Origins): boolean {
  if (origin === undefined) return false;
  const own = [baseUrl, ...(webUrl === undefined ? [] : [webUrl])].map((url) => new URL(url).origin);
  // A server on this machine has several names: localhost, 127.0.0.1 and [::1].
  return own.includes(origin) || (isLoopbackHost(host) && origin === `http://${host}`);
}

const isLoopbackHost = (host: string | undefined): boolean =>
  host !== undefined && /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/i.test(host);
