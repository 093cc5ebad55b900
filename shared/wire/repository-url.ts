/** Parameters by which some servers take a credential, such as `access_token` and `private_token`. */
const SECRET_NAME = /token|passwo?r?d|secret|api_?key|credential|auth/i;

interface Parts {
  /** The scheme, with all slashes before the user: git and browsers disagree about how many of them there may be. */
  readonly scheme: string;
  /** The part before the `@` of the host; undefined without one. */
  readonly user: string | undefined;
  readonly rest: string;
}

function split(url: string): Parts {
  const [scheme = ""] = /^[a-z]+:\/\/[\\/]*/i.exec(url) ?? [];
  const after = url.slice(scheme.length);
  const end = after.search(/[/?#]/);
  const at = scheme === "" ? -1 : after.lastIndexOf("@", end === -1 ? after.length : end);
  return at === -1
    ? { scheme, user: undefined, rest: after }
    : { scheme, user: after.slice(0, at), rest: after.slice(at + 1) };
}

/** Whether the URL of a repository contains a credential. The user of `ssh://git@host/path` is none, only a password after it. */
export function hasCredentials(url: string): boolean {
  const { scheme, user, rest } = split(url);
  const isSecretUser = user !== undefined && (!isSsh(scheme) || /:|%3a/i.test(user));
  return isSecretUser || splitParameters(rest).some(isSecretParameter);
}

/** The URL of a repository with `***` in place of each credential. */
function maskCredentials(url: string): string {
  if (!hasCredentials(url)) return url;
  const { scheme, user, rest } = split(url);
  const [name = ""] = user?.split(/:|%3a/i, 1) ?? [];
  const maskedUser = isSsh(scheme) ? (name === user ? name : `${name}:***`) : "***";
  const parameters = splitParameters(rest).map((part) =>
    isSecretParameter(part) ? `${part.slice(0, part.indexOf("="))}=***` : part,
  );
  return `${scheme}${user === undefined ? "" : `${maskedUser}@`}${parameters.join("")}`;
}

/** Repositories as responses show them: some were stored with credentials before those were refused. */
export const maskRepositories = <R extends { readonly url: string }>(repositories: readonly R[]): R[] =>
  repositories.map((repository) => ({ ...repository, url: maskCredentials(repository.url) }));

/** The URL without the user before its host. */
export function withoutUser(url: string): string {
  const { scheme, rest } = split(url);
  return scheme + rest;
}

/** A repository on an https server. */
export interface HttpsRepository {
  /** Host and port. */
  readonly host: string;
  /** The first segment of the path; undefined if there is no other. */
  readonly owner: string | undefined;
  /** The path without slashes around it and without `.git`. */
  readonly path: string;
}

/** Parses the https URL of a repository, as servers and not as texts compare it; undefined for other URLs. */
export function parseHttpsRepository(url: string): HttpsRepository | undefined {
  const parsed = URL.parse(url);
  if (parsed?.protocol !== "https:" || parsed.search !== "" || parsed.hash !== "") return undefined;
  const host = parsed.host.replace(/^www\.github\.com$/, "github.com");
  const written = parsed.pathname.replace(/^\/+|\/+$/g, "").replace(/\.git$/, "");
  // GitHub ignores case; other servers may have two owners whose names differ by it.
  const path = host === "github.com" ? written.toLowerCase() : written;
  const [owner, ...rest] = path.split("/");
  return { host, owner: rest.length === 0 ? undefined : owner, path };
}

/** Whether two https URLs name the same repository. */
export function isSameRepository(a: string, b: string): boolean {
  const [one, other] = [parseHttpsRepository(a), parseHttpsRepository(b)];
  return one !== undefined && one.host === other?.host && one.path === other.path;
}

/**
 * The URL of a submodule, which may be relative to its repository, in normal form. Undefined unless it is an https URL without
 * credentials.
 */
export function resolveSubmoduleUrl(url: string, repository: string): string | undefined {
  const isRelative = /^\.\.?\//.test(url);
  const resolved = isRelative ? URL.parse(url, `${repository.replace(/\/+$/, "")}/`) : URL.parse(url);
  if (resolved === null || hasCredentials(resolved.href) || /[\0-\x20]/.test(url)) return undefined;
  return parseHttpsRepository(resolved.href) === undefined ? undefined : resolved.href.replace(/\/+$/, "");
}

/** Text in which the user part of every URL is masked. */
export const maskUrlUsers = (text: string): string =>
  text.replaceAll(/([a-z][a-z+]{0,20}:\/{2,})[^/?#\s]*@/gi, "$1***@");

const isSsh = (scheme: string): boolean => /^ssh:/i.test(scheme);

/** The path and then each parameter, beginning with the character that separates it. */
const splitParameters = (rest: string): string[] => rest.split(/(?=[?&#;])/);

function isSecretParameter(part: string): boolean {
  const equals = part.indexOf("=");
  return /^[?&#;]/.test(part) && equals !== -1 && SECRET_NAME.test(part.slice(1, equals));
}
