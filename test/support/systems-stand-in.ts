import type { IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { startServer } from "./http-server.ts";

/** A request to a stand-in; `path` is without the query. */
export interface SystemCall {
  readonly system: "github" | "gitlab" | "slack";
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into requests of every shape.
  readonly body: any;
}

type Answer = readonly [status: number, body: object];
/** What handles requests of one method and path; the groups of the path's pattern are its parameters. */
type Handler = (parameters: readonly string[], call: SystemCall) => Answer;

interface Endpoint {
  readonly method: string;
  readonly path: RegExp;
  /** Members that the body may have; others are refused. */
  readonly members?: readonly string[];
  readonly query?: readonly string[];
  /** What the token has to be allowed to do. */
  readonly right: string;
  readonly handle: Handler;
}

export const TOKENS = { github: "github_pat_for_tests", gitlab: "glpat-for-tests", slack: "xoxb-for-tests" } as const;

/** What the systems know, and what the tokens may do; tests change it. */
function createState() {
  const failures: Readonly<Record<SystemCall["system"], number[]>> = { github: [], gitlab: [], slack: [] };
  return {
    /** Permissions of accounts on `owner/name`: https://docs.github.com/en/rest/collaborators */
    permissions: new Map<string, string>(),
    /** Access levels of accounts in projects, by `project/user`. */
    levels: new Map<string, { access_level: number; state: string }>(),
    users: new Map<string, object>(),
    rights: {
      github: new Set(["metadata:read", "issues:write", "pull_requests:write", "statuses:write"]),
      gitlab: new Set(["api"]),
      slack: new Set(["users:read", "chat:write", "reactions:write", "channels:history"]),
    },
    /** Statuses of the next responses, one each, by system: nothing is done then. */
    failures,
  };
}
type State = ReturnType<typeof createState>;

const githubEndpoints = ({ permissions }: State): Endpoint[] => [
  {
    method: "GET",
    path: /^\/repos\/([^/]+\/[^/]+)\/collaborators\/([^/]+)\/permission$/,
    right: "metadata:read",
    handle([repository, login]) {
      const permission = permissions.get(`${repository}/${login}`);
      const user = { login, id: 1, type: "User" };
      if (permission === undefined) return [404, { message: "Not Found", status: "404" }];
      const role_name = permission;
      const legacy = { maintain: "write", triage: "read" }[permission] ?? permission;
      return [200, { permission: legacy, role_name, user }];
    },
  },
];

const gitlabEndpoints = ({ levels }: State): Endpoint[] => [
  {
    method: "GET",
    path: /^\/projects\/([^/]+)\/members\/all\/(\d+)$/,
    right: "api",
    handle([project, user]) {
      const level = levels.get(`${project}/${user}`);
      if (level === undefined) return [404, { message: "404 Not found" }];
      return [200, { id: Number(user), username: `user-${user}`, ...level }];
    },
  },
];

const slackEndpoints = ({ users }: State): Endpoint[] => [
  {
    method: "GET",
    path: /^\/users\.info$/,
    query: ["user"],
    right: "users:read",
    handle(_, { query }) {
      const user = users.get(query["user"] ?? "");
      return [200, user === undefined ? { ok: false, error: "user_not_found" } : { ok: true, user }];
    },
  },
];

const REFUSALS = {
  github: (status: number): Answer => [status, { message: "refused", status: String(status) }],
  gitlab: (status: number): Answer => [status, { message: `${status} refused` }],
  slack: (status: number): Answer => [status === 403 ? 200 : status, { ok: false, error: "missing_scope" }],
};

/**
 * Starts stand-ins for the APIs of GitHub, GitLab and Slack. They refuse what the real ones refuse: unknown paths, queries and
 * members, wrong tokens, and tokens without the right.
 */
export async function startSystems() {
  const state = createState();
  const calls: SystemCall[] = [];
  const endpoints = { github: githubEndpoints(state), gitlab: gitlabEndpoints(state), slack: slackEndpoints(state) };
  const answer = (call: SystemCall, token: string | undefined): Answer => {
    const { system } = call;
    const failure = state.failures[system].shift();
    if (failure !== undefined) return REFUSALS[system](failure);
    if (token !== TOKENS[system]) {
      return system === "slack" ? [200, { ok: false, error: "invalid_auth" }] : REFUSALS[system](401);
    }
    for (const { method, path, members = [], query = [], right, handle } of endpoints[system]) {
      const found = path.exec(call.path);
      if (method !== call.method || found === null) continue;
      if (!state.rights[system].has(right)) return REFUSALS[system](403);
      const unknown = [
        ...Object.keys(call.body ?? {}).filter((name) => !members.includes(name)),
        ...Object.keys(call.query).filter((name) => !query.includes(name)),
      ];
      if (unknown.length > 0) return [422, { message: `unknown: ${unknown.join()}` }];
      return handle(found.slice(1).map(decodeURIComponent), call);
    }
    return [404, { message: `${call.method} ${call.path} is no endpoint` }];
  };
  const server = await startServer((incoming, outgoing) => {
    void readCall(incoming).then(({ call, token }) => {
      calls.push(call);
      const [status, body] = answer(call, token);
      outgoing.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    });
  });
  return {
    ...state,
    calls,
    addresses: { github: `${server.url}/github`, gitlab: `${server.url}/gitlab`, slack: `${server.url}/slack` },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

async function readCall(incoming: IncomingMessage): Promise<{ call: SystemCall; token: string | undefined }> {
  const { method = "", url = "", headers } = incoming;
  const { pathname, searchParams } = new URL(url, "http://stand-in");
  const [, name = "", path = ""] = /^\/(github|gitlab|slack)(\/.*)$/.exec(pathname) ?? [];
  const system = name === "github" ? "github" : name === "gitlab" ? "gitlab" : "slack";
  const body = await text(incoming);
  const token = system === "gitlab" ? headers["private-token"] : headers.authorization?.replace(/^Bearer /, "");
  return {
    token: typeof token === "string" ? token : undefined,
    call: {
      system,
      method,
      path,
      query: Object.fromEntries(searchParams),
      body: body === "" ? undefined : JSON.parse(body),
    },
  };
}

export type TestSystems = Awaited<ReturnType<typeof startSystems>>;
