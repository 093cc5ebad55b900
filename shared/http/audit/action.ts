/** What a route does, for the audit log. */
export interface Action {
  /** The resource and what is done to it, such as `keys.delete`. */
  readonly name: string;
  /** The kind of thing that it is done to, such as `key`. */
  readonly type: string;
  /** True if it is about the caller itself: its keys, sessions and profile. */
  readonly isOwn: boolean;
}

const VERBS: Readonly<Record<string, string>> = { POST: "create", PUT: "update", DELETE: "delete" };

/** Names the action of a route, such as `DELETE /api/v1/agent/keys/{keyUid}`, from its method and path. */
export function toAction(routeKey: string): Action {
  const [method = "", path = ""] = routeKey.split(" ");
  const segments = path
    .replace(/^\/api\/v1/, "")
    .split("/")
    .slice(1);
  const names = segments.filter((segment) => !isParameter(segment) && segment !== "agent");
  const last = names.at(-1) ?? "";
  const isVerb = !isCollection(last) && names.length > 1;
  const resources = isVerb ? names.slice(0, -1) : names;
  const verb = isVerb ? (method === "DELETE" ? `un${last}` : last) : (VERBS[method] ?? "read");
  // POST /agent/run is another path of POST /agent/runs.
  const listed = resources.map((name) => (name === "run" ? "runs" : name));
  return {
    name: [...listed, verb].join("."),
    type: toSingular(listed.at(-1) ?? ""),
    isOwn: ["keys", "session", "sessions", "me"].includes(names[0] ?? ""),
  };
}

const isParameter = (segment: string): boolean => segment.startsWith("{");
const isCollection = (segment: string): boolean => segment.endsWith("s");
const toSingular = (collection: string): string =>
  collection === "me" ? "user" : collection.replace(/ies$/, "y").replace(/s$/, "").replaceAll("-", "_");

/**
 * Whether the change of a route is recorded with it. The others are files that are prepared for a request to come, a trial
 * without an effect, and runs, follow-ups and messages to the MCP server, whose own records say who created them.
 */
export function isRecorded(routeKey: string): boolean {
  const [method = "", path = ""] = routeKey.split(" ");
  return method !== "GET" && !/\/(attachments(\/(prepare|download))?|test|agent\/runs?|followups|mcp)$/.test(path);
}
