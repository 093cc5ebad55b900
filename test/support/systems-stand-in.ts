import type { IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import * as v from "valibot";
import { type Client, createClient } from "./client.ts";
import { createTestControlPlane, type TestControlPlane } from "./control-plane.ts";
import type { GitServer } from "./git-server.ts";
import type { GithubAppStandIn } from "./github-app-stand-in.ts";
import { createHooks, type Hooks } from "./hooks.ts";
import { startServer } from "./http-server.ts";

type SystemName = "github" | "gitlab" | "slack";

/** A request to a stand-in; `path` is without the query. */
export interface SystemCall {
  readonly system: SystemName;
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

/** A comment, a note or a message. */
interface Post {
  readonly thread: string;
  readonly text: string;
  readonly metadata?: unknown;
  readonly blocks?: readonly Block[];
  /** Who has written it; the app by default. */
  readonly user?: string;
}

/** A block of a message, of which Slack knows these members. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into blocks of every type.
type Block = any;

export const TOKENS = { github: "github_pat_for_tests", gitlab: "glpat-for-tests", slack: "xoxb-for-tests" } as const;

/** What the systems know, and what the tokens may do; tests change it. */
function createState() {
  const failures: Readonly<Record<SystemName, number[]>> = { github: [], gitlab: [], slack: [] };
  const lost: Record<SystemName, number> = { github: 0, gitlab: 0, slack: 0 };
  const reactions = new Set<string>();
  const connected: { app?: GithubAppStandIn; git?: GitServer } = {};
  return {
    /** The App whose tokens GitHub accepts, and what its repositories are served by; a test sets them. */
    connected,
    /** Permissions of accounts, by `owner/name/login`. */
    permissions: new Map<string, string>(),
    /** Access levels of accounts in projects, by `project/user`. */
    levels: new Map<string, { access_level: number; state: string }>(),
    /** Accounts of Slack by their ids. */
    users: new Map<string, object>(),
    /** Head commits of pull requests, by `owner/name#number`. */
    heads: new Map<string, string>(),
    /** Head branches of pull requests with the ids of their repositories, `fix` in the repository itself by default. */
    branches: new Map<string, { ref: string; repo: { id: number } | null }>(),
    /** Check runs by their ids. */
    checks: new Map<number, Record<string, unknown>>(),
    /** States of commits, by commit and context. */
    statuses: new Map<string, string>(),
    posts: new Map<string, Post>(),
    /** What has the reaction. */
    reactions,
    rights: {
      github: new Set(["metadata:read", "issues:write", "pull_requests:read", "statuses:write", "checks:write"]),
      gitlab: new Set(["api"]),
      slack: new Set(["users:read", "chat:write", "reactions:write", "channels:history"]),
    },
    /** Statuses of the next responses, one each, by system: nothing is done then. */
    failures,
    /** Numbers of next calls that are carried out, and whose response is lost. */
    lost,
    clear() {
      for (const map of [
        this.permissions,
        this.levels,
        this.users,
        this.heads,
        this.branches,
        this.statuses,
        this.checks,
        this.posts,
      ])
        map.clear();
      reactions.clear();
      delete connected.app;
      delete connected.git;
      for (const system of ["github", "gitlab", "slack"] as const) {
        failures[system].length = 0;
        lost[system] = 0;
      }
    },
    /** The texts in a thread, oldest first. */
    textsIn: (posts: ReadonlyMap<string, Post>, thread: string) =>
      [...posts.values()].filter((post) => post.thread === thread).map((post) => post.text),
  };
}
type State = ReturnType<typeof createState>;

let nextId = 1000;

/** Lists the posts of a thread by pages, as the members of a response. */
function listPage(posts: ReadonlyMap<string, Post>, thread: string, { query }: SystemCall, newestFirst: boolean) {
  const all = [...posts].filter(([, post]) => post.thread === thread);
  const size = Number(query["per_page"] ?? 30);
  const first = (Number(query["page"] ?? 1) - 1) * size;
  return (newestFirst ? all.toReversed() : all).slice(first, first + size).map(([id, post]) => ({
    id: Number(id),
    body: post.text,
    created_at: "2026-05-18T19:00:00Z",
  }));
}

/** Fields and paths as in https://github.com/github/rest-api-description */
const githubEndpoints = (state: State): Endpoint[] => [
  {
    method: "GET",
    path: /^\/repos\/([^/]+\/[^/]+)\/collaborators\/([^/]+)\/permission$/,
    right: "metadata:read",
    handle([repository, login]) {
      const permission = state.permissions.get(`${repository}/${login}`);
      if (permission === undefined) return [404, { message: "Not Found", status: "404" }];
      const legacy = { maintain: "write", triage: "read" }[permission] ?? permission;
      return [200, { permission: legacy, role_name: permission, user: { login, id: 1, type: "User" } }];
    },
  },
  {
    method: "GET",
    path: /^\/repos\/([^/]+\/[^/]+)\/issues\/(\d+)\/comments$/,
    query: ["since", "per_page", "page"],
    right: "issues:write",
    handle: ([repository, number], call) => [200, listPage(state.posts, `${repository}#${number}`, call, false)],
  },
  {
    method: "POST",
    path: /^\/repos\/([^/]+\/[^/]+)\/issues\/(\d+)\/comments$/,
    members: ["body"],
    right: "issues:write",
    handle([repository, number], { body }) {
      const id = String(nextId++);
      state.posts.set(id, { thread: `${repository}#${number}`, text: body.body });
      return [201, { id: Number(id), body: body.body, user: { login: "runyard", type: "User" } }];
    },
  },
  {
    method: "PATCH",
    path: /^\/repos\/([^/]+\/[^/]+)\/issues\/comments\/(\d+)$/,
    members: ["body"],
    right: "issues:write",
    handle([, id = ""], { body }) {
      const post = state.posts.get(id);
      if (post === undefined) return [404, { message: "Not Found" }];
      state.posts.set(id, { ...post, text: body.body });
      return [200, { id: Number(id), body: body.body }];
    },
  },
  {
    method: "POST",
    path: /^\/repos\/([^/]+\/[^/]+)\/((?:issues\/comments|pulls\/comments|issues)\/\d+)\/reactions$/,
    members: ["content"],
    right: "issues:write",
    handle([repository, item], { body }) {
      if (!["+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes"].includes(body.content)) {
        return [422, { message: "Validation Failed" }];
      }
      const isNew = !state.reactions.has(`${repository}/${item}`);
      state.reactions.add(`${repository}/${item}`);
      return [isNew ? 201 : 200, { id: 1, content: body.content }];
    },
  },
  {
    method: "GET",
    path: /^\/repos\/([^/]+\/[^/]+)\/pulls\/(\d+)$/,
    right: "pull_requests:read",
    handle([repository, number]) {
      const sha = state.heads.get(`${repository}#${number}`);
      if (sha === undefined) return [404, { message: "Not Found" }];
      const branch = state.branches.get(`${repository}#${number}`) ?? { ref: "fix", repo: { id: 1 } };
      return [200, { number: Number(number), head: { sha, ...branch }, base: { ref: "main", repo: { id: 1 } } }];
    },
  },
  {
    method: "POST",
    path: /^\/repos\/([^/]+\/[^/]+)\/statuses\/([0-9a-f]{40})$/,
    members: ["state", "target_url", "description", "context"],
    right: "statuses:write",
    handle([, sha], { body }) {
      const isValid = ["error", "failure", "pending", "success"].includes(body.state) && body.description.length <= 140;
      if (!isValid) return [422, { message: "Validation Failed" }];
      state.statuses.set(`${sha} ${body.context}`, body.state);
      return [201, { id: 1, ...body }];
    },
  },
  {
    method: "GET",
    path: /^\/repos\/([^/]+\/[^/]+)\/commits\/([0-9a-f]{40})\/check-runs$/,
    query: ["check_name", "filter", "per_page"],
    right: "checks:write",
    handle([, sha], { query }) {
      const all = [...state.checks.values()];
      const found = all.filter((one) => one["head_sha"] === sha && one["name"] === query["check_name"]);
      return [200, { total_count: found.length, check_runs: found }];
    },
  },
  {
    method: "POST",
    path: /^\/repos\/([^/]+\/[^/]+)\/check-runs$/,
    members: ["name", "head_sha", "external_id", "status", "conclusion", "details_url", "output"],
    right: "checks:write",
    handle(_, { body }) {
      const check = { id: nextId++, ...body };
      state.checks.set(check.id, check);
      return [201, check];
    },
  },
  {
    method: "PATCH",
    path: /^\/repos\/([^/]+\/[^/]+)\/check-runs\/(\d+)$/,
    members: ["status", "conclusion", "details_url", "output"],
    right: "checks:write",
    handle([, id], { body }) {
      const check = state.checks.get(Number(id));
      if (check === undefined) return [404, { message: "Not Found" }];
      // A conclusion completes a check run.
      if ((body.status === "completed") !== (body.conclusion !== undefined))
        return [422, { message: "Invalid request." }];
      state.checks.set(Number(id), { ...check, ...body });
      return [200, { ...check, ...body }];
    },
  },
];

/** Fields and paths as in https://docs.gitlab.com/api/ */
const gitlabEndpoints = (state: State): Endpoint[] => [
  {
    method: "GET",
    path: /^\/projects\/([^/]+)\/members\/all\/(\d+)$/,
    right: "api",
    handle([project, user]) {
      const level = state.levels.get(`${project}/${user}`);
      if (level === undefined) return [404, { message: "404 Not found" }];
      return [200, { id: Number(user), username: `user-${user}`, ...level }];
    },
  },
  {
    method: "GET",
    path: /^\/projects\/([^/]+)\/((?:issues|merge_requests)\/\d+)\/notes$/,
    query: ["sort", "order_by", "per_page", "page"],
    right: "api",
    handle: ([project, item], call) => [200, listPage(state.posts, `${project}/${item}`, call, true)],
  },
  {
    method: "POST",
    path: /^\/projects\/([^/]+)\/((?:issues|merge_requests)\/\d+)\/notes$/,
    members: ["body"],
    right: "api",
    handle([project, item], { body }) {
      const id = String(nextId++);
      state.posts.set(id, { thread: `${project}/${item}`, text: body.body });
      return [201, { id: Number(id), body: body.body, created_at: "2026-05-18T19:00:00Z" }];
    },
  },
  {
    method: "PUT",
    path: /^\/projects\/([^/]+)\/((?:issues|merge_requests)\/\d+)\/notes\/(\d+)$/,
    members: ["body"],
    right: "api",
    handle([, , id = ""], { body }) {
      const post = state.posts.get(id);
      if (post === undefined) return [404, { message: "404 Not found" }];
      state.posts.set(id, { ...post, text: body.body });
      return [200, { id: Number(id), body: body.body, created_at: "2026-05-18T19:00:00Z" }];
    },
  },
  {
    method: "POST",
    path: /^\/projects\/([^/]+)\/((?:issues|merge_requests)\/\d+(?:\/notes\/\d+)?)\/award_emoji$/,
    members: ["name"],
    right: "api",
    handle([project, item], { body }) {
      if (state.reactions.has(`${project}/${item}`)) return [404, { message: "404 Award Emoji Name has been taken" }];
      state.reactions.add(`${project}/${item}`);
      return [201, { id: 1, name: body.name }];
    },
  },
];

const refuse = (error: string): Answer => [200, { ok: false, error }];

/** Fields as in https://docs.slack.dev/reference/methods */
const slackEndpoints = (state: State): Endpoint[] => [
  {
    method: "GET",
    path: /^\/users\.info$/,
    query: ["user"],
    right: "users:read",
    handle(_, { query }) {
      const user = state.users.get(query["user"] ?? "");
      return user === undefined ? refuse("user_not_found") : [200, { ok: true, user }];
    },
  },
  {
    method: "POST",
    path: /^\/chat\.postMessage$/,
    members: ["channel", "thread_ts", "text", "blocks", "metadata", "unfurl_links", "unfurl_media"],
    right: "chat:write",
    handle(_, { body }) {
      if (typeof body.text !== "string" || body.text === "") return refuse("no_text");
      if (!areBlocks(body.blocks)) return refuse("invalid_blocks");
      const ts = `${nextId++}.0001`;
      const { text, metadata, blocks } = body;
      state.posts.set(ts, { thread: `${body.channel}/${body.thread_ts}`, text, metadata, blocks });
      return [200, { ok: true, channel: body.channel, ts }];
    },
  },
  {
    method: "POST",
    path: /^\/chat\.update$/,
    members: ["channel", "ts", "text", "blocks", "metadata"],
    right: "chat:write",
    handle(_, { body }) {
      const post = state.posts.get(body.ts);
      if (post === undefined) return refuse("message_not_found");
      if (!areBlocks(body.blocks)) return refuse("invalid_blocks");
      state.posts.set(body.ts, { ...post, text: body.text, metadata: body.metadata, blocks: body.blocks });
      return [200, { ok: true, ts: body.ts }];
    },
  },
  {
    method: "POST",
    path: /^\/reactions\.add$/,
    members: ["channel", "timestamp", "name"],
    right: "reactions:write",
    handle(_, { body }) {
      const item = `${body.channel}/${body.timestamp}`;
      if (state.reactions.has(item)) return refuse("already_reacted");
      state.reactions.add(item);
      return [200, { ok: true }];
    },
  },
  {
    method: "GET",
    path: /^\/conversations\.replies$/,
    query: ["channel", "ts", "oldest", "latest", "limit", "include_all_metadata"],
    right: "channels:history",
    handle(_, { query }) {
      const thread = `${query["channel"]}/${query["ts"]}`;
      const messages = [...state.posts]
        .filter(([ts, post]) => post.thread === thread && ts < (query["latest"] ?? "9"))
        .map(([ts, { text, metadata, user }]) => ({ type: "message", ts, text, metadata, user }));
      return [200, { ok: true, messages, has_more: false }];
    },
  },
];

/** https://docs.slack.dev/reference/block-kit/blocks */
function areBlocks(blocks: readonly Block[] = []): boolean {
  const isText = (text: Block, most: number) =>
    ["plain_text", "mrkdwn"].includes(text?.type) && text.text.length > 0 && text.text.length <= most;
  const isButton = ({ type, action_id, text, value, url = "", style = "primary", ...rest }: Block) =>
    type === "button" &&
    isText(text, 75) &&
    action_id.length <= 255 &&
    value.length <= 2000 &&
    url.length <= 3000 &&
    ["primary", "danger"].includes(style) &&
    Object.keys(rest).length === 0;
  const ids = blocks.flatMap(({ block_id }) => block_id ?? []);
  return (
    blocks.length <= 50 &&
    new Set(ids).size === ids.length &&
    blocks.every((block) => {
      if (block.type === "section") return isText(block.text, 3000);
      if (block.type === "input") return isText(block.label, 2000) && block.element.max_length <= 3000;
      return block.type === "actions" && block.elements.length > 0 && block.elements.every(isButton);
    })
  );
}

const REFUSALS = {
  github: (status: number): Answer => [status, { message: "refused", status: String(status) }],
  gitlab: (status: number): Answer => [status, { message: `${status} refused` }],
  slack: (status: number): Answer => (status === 403 ? refuse("missing_scope") : [status, {}]),
};

/**
 * Starts stand-ins for the APIs of GitHub, GitLab and Slack. They refuse what the real ones refuse: unknown paths, queries and
 * members, wrong tokens, and tokens without the right.
 */
export async function startSystems() {
  const state = createState();
  const calls: SystemCall[] = [];
  const endpoints = { github: githubEndpoints(state), gitlab: gitlabEndpoints(state), slack: slackEndpoints(state) };
  /** Why GitHub refuses what a token of the App has no right to; undefined for a token that is none, and for what it may do. */
  const findAppRefusal = (call: SystemCall, token: string, right: string): Answer | undefined => {
    const { app } = state.connected;
    const [, repository = ""] = /^\/repos\/([^/]+\/[^/]+)/.exec(call.path) ?? [];
    if (app?.isGood(token) !== true) return REFUSALS.github(401);
    return app.isAllowed(token, repository, right) ? undefined : REFUSALS.github(403);
  };
  const answer = (call: SystemCall, token: string | undefined): Answer => {
    const { system } = call;
    const isOfApp = system === "github" && token?.startsWith("ghs_") === true;
    const failure = state.failures[system].shift();
    if (failure !== undefined) return REFUSALS[system](failure);
    if (token !== TOKENS[system] && !isOfApp)
      return system === "slack" ? refuse("invalid_auth") : REFUSALS[system](401);
    for (const { method, path, members = [], query = [], right, handle } of endpoints[system]) {
      const found = path.exec(call.path);
      if (method !== call.method || found === null) continue;
      const rights: ReadonlySet<string> = state.rights[system];
      const refusal = isOfApp ? findAppRefusal(call, token, right) : undefined;
      if (refusal !== undefined) return refusal;
      if (!isOfApp && !rights.has(right)) return REFUSALS[system](403);
      const unknown = [
        ...Object.keys(call.body ?? {}).filter((name) => !members.includes(name)),
        ...Object.keys(call.query).filter((name) => !query.includes(name)),
      ];
      if (unknown.length > 0) return [422, { message: `unknown: ${unknown.join()}` }];
      return handle(found.slice(1).map(decodeURIComponent), call);
    }
    return [404, { message: `${call.method} ${call.path} is no endpoint` }];
  };
  const answerApp = ({ path: pathname, method }: SystemCall, incoming: IncomingMessage, token?: string, body = "") => {
    const { app } = state.connected;
    const names = app?.issued.flatMap(({ repositories }) => repositories) ?? [];
    const response = app?.respondTo({ method, pathname, headers: incoming.headers, token, body }, names);
    return response && ([response.status, v.parse(v.looseObject({}), response.body)] as const);
  };
  const server = await startServer((incoming, outgoing) => {
    const { url = "" } = incoming;
    if (/^\/github\/[^?]*\.git\//.test(url) && state.connected.git !== undefined) {
      return state.connected.git.respond(incoming, outgoing, url.slice("/github".length));
    }
    void readCall(incoming).then(({ call, token, content }) => {
      const app = call.system === "github" ? answerApp(call, incoming, token, content) : undefined;
      if (app === undefined) calls.push(call);
      const [status, body] = app ?? answer(call, token);
      if (state.lost[call.system] > 0 && call.method !== "GET") {
        state.lost[call.system]--;
        outgoing.destroy();
        return;
      }
      outgoing.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    });
  });
  return {
    ...state,
    calls,
    addresses: { github: `${server.url}/github`, gitlab: `${server.url}/gitlab`, slack: `${server.url}/slack` },
    /** The texts in a thread, oldest first. */
    texts: (thread: string) => state.textsIn(state.posts, thread),
    reset() {
      state.clear();
      calls.length = 0;
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

interface ReadCall {
  readonly call: SystemCall;
  readonly token: string | undefined;
  readonly content: string;
}

async function readCall(incoming: IncomingMessage): Promise<ReadCall> {
  const { method = "", url = "", headers } = incoming;
  const { pathname, searchParams } = new URL(url, "http://stand-in");
  const [, name = "", path = ""] = /^\/(github|gitlab|slack)(\/.*)$/.exec(pathname) ?? [];
  const system = name === "github" ? "github" : name === "gitlab" ? "gitlab" : "slack";
  const body = await text(incoming);
  const token = system === "gitlab" ? headers["private-token"] : headers.authorization?.replace(/^Bearer /, "");
  return {
    content: body,
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

export interface ConnectedPlane {
  readonly plane: TestControlPlane;
  readonly user: Client;
  readonly hooks: Hooks;
}

/** Creates a control plane that calls the systems, which forget what they have. Its team has a secret with the token of each. */
export async function connectPlane(systems: TestSystems): Promise<ConnectedPlane> {
  const plane = await createTestControlPlane();
  Object.assign(plane.addresses, systems.addresses);
  systems.reset();
  const user = createClient(plane);
  for (const [name, value] of Object.entries(TOKENS)) await user.post("/agent/secrets", { name, value });
  return { plane, user, hooks: createHooks(plane) };
}
