import { join } from "node:path";
import type { APIGatewayProxyEventV2, SQSBatchResponse } from "aws-lambda";
import { callSystems } from "#functions/executions/call-systems.ts";
import { decideEvents } from "#functions/executions/decide-events.ts";
import { discoverSkills } from "#functions/executions/discover-skills.ts";
import { eventSources } from "#infra/event-sources.ts";
import type { EventPorts } from "#shared/conversations/live-output.ts";
import { guideFiles } from "#shared/docs/guide-files.ts";
import type { GuidePorts } from "#shared/docs/guides.ts";
import { startExecution } from "#shared/executions/dispatch-run.ts";
import { memoryFileStore } from "#shared/files/memory-file-store.ts";
import type { AppClient } from "#shared/github/app-client.ts";
import { findOwner } from "#shared/github/installation-store.ts";
import type { InstallationTokens } from "#shared/github/installation-tokens.ts";
import type { ClaimPorts } from "#shared/github/installations.ts";
import { auditedTable } from "#shared/http/audit/trail.ts";
import type { HttpPorts } from "#shared/http/endpoint.ts";
import type { HttpResponse } from "#shared/http/problem.ts";
import { putIdentity } from "#shared/identities/identity-store.ts";
import { uuidv7 } from "#shared/ids.ts";
import { generateKey } from "#shared/keys/generate-key.ts";
import type { KeyOwner } from "#shared/keys/key-owner.ts";
import { putFirstKey } from "#shared/keys/key-store.ts";
import { DEFAULT_RATE_LIMITS, type RateLimitKind } from "#shared/limits/token-bucket.ts";
import { liveTailStore } from "#shared/live/live-tail-store.ts";
import { polledSignals } from "#shared/live/polled-signals.ts";
import type { SignInIssuer } from "#shared/oidc/exchange-code.ts";
import { createIssuers, type Issuers } from "#shared/oidc/issuers.ts";
import { type Cursors, cursors } from "#shared/pagination/cursor.ts";
import { principalStore } from "#shared/principals/principal-store.ts";
import type { DeliveryRef as EventRef } from "#shared/queue/event-queue.ts";
import { register } from "#shared/records/identity-register.ts";
import { putMember } from "#shared/records/member.ts";
import { putUser } from "#shared/records/user.ts";
import type { RetentionPorts } from "#shared/retention/delete-run.ts";
import type { IdentityTokenPorts } from "#shared/run-identity/identity-token.ts";
import { createSigningKeys } from "#shared/run-identity/signing-keys.ts";
import { runStore } from "#shared/runs/run-store.ts";
import type { PlacedSandbox, Sandbox } from "#shared/sandbox/sandbox.ts";
import type { WorkerSockets } from "#shared/sandbox/worker-sockets.ts";
import type { FiringPorts } from "#shared/schedules/schedule-ports.ts";
import { scheduleStore } from "#shared/schedules/schedule-store.ts";
import type { TokenEndpoints } from "#shared/secrets/renew-secret.ts";
import type { SecretPorts } from "#shared/secrets/secret-ports.ts";
import type { GithubApp } from "#shared/skills/github-app.ts";
import type { DiscoveryPorts, SkillPorts } from "#shared/skills/skill-ports.ts";
import { memoryTable } from "#shared/table/memory-table.ts";
import type { Item } from "#shared/table/table.ts";
import { bootstrap } from "#shared/teams/bootstrap.ts";
import { countMember, deleteMember } from "#shared/teams/member-store.ts";
import { memoryScheduler } from "#shared/timers/memory-scheduler.ts";
import type { SystemPorts } from "#shared/triggers/systems/call-system.ts";
import { createObjectFetch, createSystemFetch, createTokenFetch } from "#shared/triggers/systems/system-api.ts";
import type { AppIngressPorts, DecisionPorts } from "#shared/triggers/trigger-ports.ts";
import { memoryKeySetStore } from "#shared/vault/memory-key-set-store.ts";
import { memorySecretVault } from "#shared/vault/memory-secret-vault.ts";
import type { AttemptRequest, AttemptResult } from "#shared/webhooks/send-webhooks.ts";
import type { AttemptPorts, DeliveryPlanPorts, DeliveryRef, WebhookPorts } from "#shared/webhooks/webhook-ports.ts";
import type { SandboxProvider } from "#shared/wire/executions/sandboxes.ts";
import type { Envelope } from "#shared/wire/harness.ts";
import type { StoredNetwork } from "#shared/wire/network/stored-network.ts";
import type { ScanRequest } from "#shared/wire/scan.ts";
import { MAX_FRAME_BYTES } from "#shared/wire/worker.ts";
import { root } from "../../scripts/run-command.ts";
import { mutatedTable } from "./conditions.ts";
import { type Around, watched, watchedTable } from "./faults.ts";
import {
  eventsWithinRights,
  filesWithinRights,
  liveTableWithinRights,
  queueWithinRights,
  requireSystemCall,
  requireWebhookCall,
  sandboxWithinRights,
  signingKeysWithinRights,
  socketsWithinRights,
  tableWithinRights,
  vaultWithinRights,
  webhookSecretsWithinRights,
  withRights,
} from "./rights.ts";
import { sqsEvent } from "./sqs-event.ts";

export const BASE_URL = "https://runyard.test/api/v1";

/** An endpoint as tests call it. */
interface Callable {
  handle(event: APIGatewayProxyEventV2, ports: TestPorts): Promise<HttpResponse>;
}
export type TestPorts = RetentionPorts &
  GuidePorts &
  EventPorts &
  SecretPorts &
  FiringPorts &
  SkillPorts &
  DiscoveryPorts &
  WebhookPorts &
  DeliveryPlanPorts &
  AttemptPorts &
  IdentityTokenPorts &
  DecisionPorts &
  AppIngressPorts &
  ClaimPorts &
  HttpPorts & {
    issuerUrl: string | undefined;
    readonly cursors: Cursors;
    /** Issuers of OIDC tokens; tests use local ones. */
    issuers: Issuers;
    readonly tokens: TokenEndpoints;
    /** The address of the web app. */
    webUrl: string | undefined;
    /** US dollars of an hour in a sandbox; not known by default. */
    sandboxUsdPerHour: number | undefined;
    /** The issuer by which people sign in; none by default. */
    signInIssuer: SignInIssuer | undefined;
    readonly sandbox: Sandbox;
    readonly offered: readonly SandboxProvider[];
    readonly sockets: WorkerSockets;
    readonly maxExecutions: number | undefined;
    readonly settleSeconds: number;
    readonly workerSocketUrl: string;
  };

export interface CallOptions {
  readonly method?: string;
  readonly rawPath?: string;
  /** Method and path of the route, with the names of its parameters. */
  readonly routeKey?: string;
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: string;
  /** Sent as JSON, unless it is a string or a buffer, which are sent as they are. */
  readonly body?: unknown;
  readonly key?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /** Kinds of principals of the route; all by default. */
  readonly who?: readonly string[];
  readonly scope?: string;
}

const undisturbed: Around = (_, perform) => perform();

/** Creates a complete control plane in memory, with a clock that the test sets. Its AWS calls go through `around`. */
export async function createTestControlPlane(bare = memoryTable(), around: Around = undisturbed) {
  const files = filesWithinRights(watched("files", memoryFileStore(), ["put", "get", "size"], around));
  const vault = memorySecretVault();
  const webhooks = createWebhookSettings();
  const clock = { now: Date.parse("2026-05-18T19:00:00.000Z") };
  const now = () => clock.now;
  const audited = auditedTable(tableWithinRights(watchedTable(mutatedTable(bare), around)), now);
  const isAudit = ({ pk }: Item) => pk.startsWith("AUDIT#");
  // The audit log is apart: most tests are about what a request changes besides it.
  const table = { ...audited, all: () => audited.all().filter((item) => !isAudit(item)) };
  const sent: { readonly queue: "runs" | "ends"; readonly runId: string; readonly delaySeconds?: number }[] = [];
  /** Deliveries to triggers whose decision was requested; they are decided on at once, unless a test holds them. */
  const events: { isHeld: boolean; readonly requested: EventRef[] } = { isHeld: false, requested: [] };
  /** The limits of the whole deployment. */
  const capacity: { maxExecutions: number | undefined } = { maxExecutions: undefined };
  const started: Envelope[] = [];
  /** What the next starts throw, one each. */
  const failures: Error[] = [];
  /** Sandboxes whose stop was requested, in order. */
  const stopped: PlacedSandbox[] = [];
  /** The results of the next stops, one each; later stops return true. */
  const stopResponses: (boolean | Error)[] = [];
  const offered: SandboxProvider[] = ["lambda"];
  const networkLimits: StoredNetwork["mode"][] = [];
  const sandbox: Sandbox = sandboxWithinRights({
    start: (envelope, { provider }) =>
      around("sandbox.start", async () => {
        const failure = failures.shift();
        if (failure !== undefined) throw failure;
        started.push(envelope);
        return provider === "lambda" ? undefined : `${provider}-${envelope.execution_id}`;
      }),
    stop: (placed) =>
      around("sandbox.stop", async () => {
        stopped.push(placed);
        const response = stopResponses.shift() ?? true;
        if (response instanceof Error) throw response;
        return response;
      }),
  });
  /** What each open connection of a worker has received; closed ones are deleted. */
  const received = new Map<string, unknown[]>();
  const sockets: WorkerSockets = {
    post: (connectionId, frame) =>
      around("sockets.post", async () => {
        if (Buffer.byteLength(frame) > MAX_FRAME_BYTES) throw new Error("the frame is too large");
        received.get(connectionId)?.push(JSON.parse(frame));
        return received.has(connectionId);
      }),
    close: async (connectionId) => void received.delete(connectionId),
  };
  const scheduler = memoryScheduler();
  const repositories = createRepositorySettings();
  const discoveryPorts: Pick<DiscoveryPorts, "github" | "scanner"> = {
    github: {
      get apiUrl() {
        return repositories.githubUrl;
      },
      get app() {
        return repositories.githubApp;
      },
      token: async () => repositories.githubToken,
      fetch,
      now,
    },
    scanner: { scan: (request) => repositories.scan(request) },
  };
  const { file, rights } = eventSources.discoverSkills;
  /** The addresses of other systems, at which nothing listens until a test sets them. */
  const addresses = { github: "http://127.0.0.1:1", gitlab: "http://127.0.0.1:1", slack: "http://127.0.0.1:1" };
  const systemPorts: SystemPorts = {
    vault: vaultWithinRights(vault),
    appTokens: (request, age) => {
      if (repositories.appTokens === undefined) throw new Error("the test has no GitHub App");
      return repositories.appTokens(request, age);
    },
    fetch: createSystemFetch(),
    objectFetch: createObjectFetch(),
    tokenFetch: createTokenFetch({ allowsPrivate: false, allowsLoopback: true }),
    addresses,
    now,
    accessCache: new Map(),
  };
  const rates: Record<RateLimitKind, number> = { ...DEFAULT_RATE_LIMITS };
  const ports: TestPorts = {
    table,
    runs: runStore(table),
    live: watched(
      "live",
      liveTailStore(liveTableWithinRights(memoryTable()), now),
      ["append", "finish", "read", "clear"],
      around,
    ),
    signals: polledSignals,
    streamSeconds: undefined,
    schedules: scheduleStore(table),
    scheduler: watched("scheduler", scheduler, ["put", "remove"], around),
    files,
    fileRemoval: files,
    queue: queueWithinRights({
      sendRun: (runId, _owner, delaySeconds) =>
        around("queue.sendRun", async () => {
          sent.push({ queue: "runs", runId, ...(delaySeconds !== undefined && { delaySeconds }) });
        }),
      sendEnd: (runId) => around("queue.sendEnd", async () => void sent.push({ queue: "ends", runId })),
    }),
    events: eventsWithinRights({
      sendDelivery: (delivery) =>
        around("events.sendDelivery", async () => {
          if (events.isHeld) events.requested.push(delivery);
          else await decideEvent(delivery, ports);
        }),
    }),
    now,
    baseUrl: BASE_URL,
    guides: guideFiles(join(root, "docs")),
    webUrl: "https://runyard.test",
    principals: principalStore(table, now),
    who: ["personal", "agent", "run"],
    scope: "",
    rates,
    cursors: cursors(table),
    issuers: createIssuers({ now, allowsPrivate: true, cooldownMs: 0 }),
    signInIssuer: undefined,
    issuerUrl: BASE_URL,
    signingKeys: createSigningKeys(signingKeysWithinRights(memoryKeySetStore()), now),
    vault: vaultWithinRights(vault),
    webhookSecrets: webhookSecretsWithinRights(webhooks.secrets),
    webhooks,
    attempts: {
      async request(deliveries) {
        requireWebhookCall("webhookAttempts");
        webhooks.requested.push(...deliveries);
      },
    },
    sender: {
      async send(requests) {
        requireWebhookCall("webhookSender");
        return requests.map((request) => {
          webhooks.sent.push(request);
          return { id: request.id, at: clock.now, duration_ms: 12, ...webhooks.respond(request) };
        });
      },
    },
    systems: {
      call: (request) => {
        requireSystemCall();
        const { file, rights } = eventSources.callSystems;
        return withRights(file, rights, () => callSystems.handle({ v: 1, request }, systemPorts));
      },
    },
    tokens: {
      renew: (request) => {
        requireSystemCall();
        const { file, rights } = eventSources.callSystems;
        return withRights(file, rights, () => callSystems.handle({ v: 1, request }, systemPorts));
      },
    },
    sandbox,
    offered,
    sockets: socketsWithinRights(sockets),
    settleSeconds: 0,
    workerSocketUrl: "wss://workers.runyard.test",
    get maxExecutions() {
      return capacity.maxExecutions;
    },
    networkLimits: () => networkLimits,
    sandboxUsdPerHour: undefined,
    get hasContainers() {
      return offered.includes("fargate");
    },
    ...discoveryPorts,
    ownerOf: findOwner(table, undefined),
    appWebhookSecret: async () => repositories.appWebhookSecret,
    get appClient() {
      return repositories.appClient;
    },
    get app() {
      return repositories.githubApp;
    },
    discovery: {
      refresh: (repository) =>
        withRights(file, rights, () =>
          discoverSkills.handle({ v: 1, ...repository }, { table, files, now, ...discoveryPorts }),
        ),
    },
  };
  const first = await bootstrap(table, clock.now, { teamName: "Alpha", displayName: "Ada", email: "ada@runyard.test" });
  const other = await bootstrap(table, clock.now, { teamName: "Beta", displayName: "Bo", email: "bo@runyard.test" });

  async function call(endpoint: Callable, options: CallOptions = {}): Promise<ResponseBody> {
    const key = "key" in options ? options.key : first.api_key;
    const response = await endpoint.handle(httpEvent({ ...options, key }), {
      ...ports,
      who: options.who ?? ports.who,
      scope: options.scope ?? ports.scope,
    });
    const isJson = response.headers["content-type"]?.includes("json") ?? false;
    return {
      status: response.statusCode,
      headers: response.headers,
      body: isJson ? JSON.parse(response.body) : response.body,
    };
  }

  return {
    table,
    /** The audit logs of all teams. */
    auditItems: () => audited.all().filter(isAudit),
    files,
    vault,
    events,
    /** The addresses of the systems that triggers call with a credential. */
    addresses,
    /** What was requested and sent for webhooks, and how their receivers respond. */
    webhooks,
    clock,
    /** The GitHub and scanner settings for repositories. */
    repositories,
    sent,
    started,
    failures,
    stopped,
    stopResponses,
    received,
    /** The sandbox providers of the deployment, the default one first. */
    offered,
    /** The modes of a limited network that sandboxes keep. */
    networkLimits,
    /** The rate limits of a caller, in requests per minute. */
    rates,
    capacity,
    /** The timers of schedules. */
    timers: scheduler.timers,
    ports,
    team: first.team_uid,
    user: first.user_uid,
    key: first.api_key,
    otherTeam: other.team_uid,
    otherUser: other.user_uid,
    otherKey: other.api_key,
    call,
    /** Stores content at the URL of an upload target. */
    async upload(url: string, content: string | Uint8Array): Promise<void> {
      await files.put(toFile(url), content, "application/octet-stream");
    },
    /** Returns the content behind a download URL. */
    async download(url: string): Promise<string> {
      return Buffer.from((await files.get(toFile(url))) ?? "").toString();
    },
    /** Creates another person, in the first team by default. */
    async person(
      displayName: string,
      teams: readonly string[] = [first.team_uid],
    ): Promise<{ uid: string; key: string }> {
      const person = { uid: uuidv7(clock.now), displayName, email: `${displayName.toLowerCase()}@runyard.test` };
      const [defaultTeam] = teams;
      const owner: KeyOwner = { kind: "personal", user: person.uid, defaultTeam };
      const key = generateKey(owner, { uid: uuidv7(clock.now), name: "test", now: clock.now, createdBy: undefined });
      await table.transact([
        putUser(person, Object.fromEntries(teams.map((team) => [team, "member" as const])), clock.now, "bootstrap"),
        ...teams.flatMap((team) => [putMember(team, person, "member", clock.now), countMember(team, 1)]),
        ...putFirstKey(owner, key),
      ]);
      return { uid: person.uid, key: key.raw };
    },
    /** Removes a person from a team. */
    async removeMember(user: string, team: string = first.team_uid): Promise<void> {
      await table.transact([...deleteMember(team, user), countMember(team, -1)]);
    },
    /** Creates an agent identity with a key, in the first team by default. */
    async agent(
      name = "builder",
      team: string = first.team_uid,
    ): Promise<{ uid: string; key: string; keyUid: string }> {
      const identity = { uid: uuidv7(clock.now), team_uid: team, name, created_at: clock.now, updated_at: clock.now };
      const owner: KeyOwner = { kind: "agent", identity: identity.uid, team };
      const key = generateKey(owner, { uid: uuidv7(clock.now), name: "test", now: clock.now, createdBy: undefined });
      await table.transact([
        register(team, identity.uid, clock.now),
        ...putIdentity(identity),
        ...putFirstKey(owner, key),
      ]);
      return { uid: identity.uid, key: key.raw, keyUid: key.stored.uid };
    },
    /** Dispatches a queued run, and returns the envelope that its sandbox received. */
    async dispatch(runId: string): Promise<Envelope> {
      const before = started.length;
      await startExecution(runId, ports);
      const envelope = started[before];
      if (envelope === undefined) throw new Error(`run ${runId} was not started`);
      return envelope;
    },
  };
}

/** Invokes the consumer of events with the message of a delivery. */
export const decideEvent = (delivery: EventRef, ports: DecisionPorts): Promise<SQSBatchResponse> => {
  const { file, rights } = eventSources.decideEvents;
  return withRights(file, rights, () => decideEvents.handle(sqsEvent("events", [{ v: 1, ...delivery }]), ports));
};

/** Settings with which every request for a repository fails until a test changes them. */
function createRepositorySettings() {
  const outside: {
    githubUrl: string;
    githubToken: string | undefined;
    githubApp: GithubApp | undefined;
    appClient: AppClient | undefined;
    appTokens: InstallationTokens | undefined;
    appWebhookSecret: string | undefined;
    scan: (request: ScanRequest) => Promise<unknown>;
  } = {
    githubUrl: "http://127.0.0.1:1",
    githubToken: undefined,
    githubApp: undefined,
    appClient: undefined,
    appTokens: undefined,
    appWebhookSecret: undefined,
    scan: () => Promise.reject(new Error("no sandbox")),
  };
  return outside;
}

/** Receivers of webhooks that respond 200 until a test changes them. */
function createWebhookSettings() {
  const secrets = memorySecretVault();
  const requested: DeliveryRef[] = [];
  const sent: AttemptRequest[] = [];
  const settings: {
    isAvailable: boolean;
    allowsPrivate: boolean;
    respond: (request: AttemptRequest) => Partial<Pick<AttemptResult, "status_code" | "error" | "duration_ms">>;
  } = { isAvailable: true, allowsPrivate: false, respond: () => ({ status_code: 200 }) };
  return Object.assign(settings, { secrets, requested, sent });
}

export type TestControlPlane = Awaited<ReturnType<typeof createTestControlPlane>>;

export interface ResponseBody {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into responses of every shape.
  readonly body: any;
}

const toFile = (url: string): string => decodeURI(new URL(url).pathname.slice(1));

/** An event of API Gateway's HTTP API, payload format 2.0. */
export function httpEvent(options: CallOptions): APIGatewayProxyEventV2 {
  const method = options.method ?? (options.body === undefined ? "GET" : "POST");
  const rawPath = options.rawPath ?? "/api/v1/agent/runs";
  const routeKey = options.routeKey ?? `${method} ${rawPath}`;
  const { body } = options;
  const text =
    body === undefined || typeof body === "string"
      ? body
      : Buffer.isBuffer(body)
        ? body.toString("base64")
        : JSON.stringify(body);
  return {
    version: "2.0",
    routeKey,
    rawPath,
    rawQueryString: options.query ?? "",
    headers: {
      ...(options.key === undefined ? {} : { authorization: `Bearer ${options.key}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...options.headers,
    },
    requestContext: {
      accountId: "000000000000",
      apiId: "api",
      domainName: "runyard.test",
      domainPrefix: "runyard",
      http: { method, path: rawPath, protocol: "HTTP/1.1", sourceIp: "127.0.0.1", userAgent: "test" },
      requestId: "request-1",
      routeKey,
      stage: "$default",
      time: "18/May/2026:19:00:00 +0000",
      timeEpoch: 1_779_130_800_000,
    },
    ...(options.path === undefined ? {} : { pathParameters: { ...options.path } }),
    ...(text === undefined ? {} : { body: text }),
    isBase64Encoded: Buffer.isBuffer(body),
  };
}
