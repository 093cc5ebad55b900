const DEFAULT_PATH = "/runs";
/** An origin that no path can name. */
const ORIGIN = "https://app.invalid";

/**
 * The path to follow after the sign-in. Only paths of this app are followed, as the URL parser reads them: it ignores tabs and line
 * breaks, takes `\\` as `/`, and removes `.` segments, each of which can turn a path into the name of another host.
 */
export function toSafePath(to: string | undefined): string {
  const url = to?.startsWith("/") ? URL.parse(to, ORIGIN) : null;
  if (url === null || url.origin !== ORIGIN || url.pathname.startsWith("//")) return DEFAULT_PATH;
  return `${url.pathname}${url.search}${url.hash}`;
}
