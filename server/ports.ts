import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { callSystems } from "#functions/executions/call-systems.ts";
import { discoverSkills } from "#functions/executions/discover-skills.ts";
import { sendWebhooks } from "#functions/executions/send-webhooks.ts";
import { type Route, routePaths } from "#infra/routes.ts";
import type { EventPorts } from "#shared/conversations/live-output.ts";
import { guideFiles } from "#shared/docs/guide-files.ts";
import type { GuidePorts } from "#shared/docs/guides.ts";
import type { DispatchPorts } from "#shared/executions/dispatch-run.ts";
import type { EndPorts, ReaperPorts } from "#shared/executions/execution-ports.ts";
import type { PromptPorts } from "#shared/executions/resolve-prompt.ts";
import type { ClaimPorts } from "#shared/github/installations.ts";
import { auditedTable } from "#shared/http/audit/trail.ts";
import type { HttpPorts } from "#shared/http/endpoint.ts";
import type { RoutePorts } from "#shared/http/route-not-found.ts";
import type { DeletionPorts } from "#shared/identities/delete-identity.ts";
import type { TokenPorts } from "#shared/identities/exchange-token.ts";
import { configuredRateLimits } from "#shared/limits/token-bucket.ts";
import { memoryLiveTails } from "#shared/live/memory-live-tails.ts";
import { type MemorySignals, memorySignals } from "#shared/live/memory-signals.ts";
import { logLine } from "#shared/log/log.ts";
import type { GatewayPorts } from "#shared/model-gateway/gateway.ts";
import { createIssuers } from "#shared/oidc/issuers.ts";
import { createOutwardFetch } from "#shared/oidc/outward-fetch.ts";
import { cursors } from "#shared/pagination/cursor.ts";
import { principalStore } from "#shared/principals/principal-store.ts";
import { parseRunId } from "#shared/records/run-head.ts";
import type { RetentionPorts } from "#shared/retention/delete-run.ts";
import type { IdentityTokenPorts } from "#shared/run-identity/identity-token.ts";
import { toIssuerUrl } from "#shared/run-identity/own-issuer.ts";
import { createSigningKeys } from "#shared/run-identity/signing-keys.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { runStore } from "#shared/runs/run-store.ts";
import type { Sandbox } from "#shared/sandbox/sandbox.ts";
import type { WorkerSockets } from "#shared/sandbox/worker-sockets.ts";
import type { FiringPorts } from "#shared/schedules/schedule-ports.ts";
import { scheduleStore } from "#shared/schedules/schedule-store.ts";
import type { SecretPorts } from "#shared/secrets/secret-ports.ts";
import { signedUrlSeconds } from "#shared/settings.ts";
import type { GithubApi } from "#shared/skills/github-api.ts";
import type { DiscoveryPorts, Scanner, SkillPorts } from "#shared/skills/skill-ports.ts";
import type { DeletionPorts as TeamDeletionPorts } from "#shared/teams/delete-team.ts";
import type { LimitPorts } from "#shared/teams/team-ports.ts";
import { createSpanExporter } from "#shared/tracing/create-span-exporter.ts";
import type { SystemPorts } from "#shared/triggers/systems/call-system.ts";
import { createObjectFetch, createSystemFetch, createTokenFetch } from "#shared/triggers/systems/system-api.ts";
import type { AppIngressPorts, DecisionPorts } from "#shared/triggers/trigger-ports.ts";
import type { KeySetStore } from "#shared/vault/key-set-store.ts";
import { tableVault } from "#shared/vault/secret-value-store.ts";
import type { OidcSignInPorts } from "#shared/web-sessions/oidc-sign-in.ts";
import type { WebSessionPorts } from "#shared/web-sessions/sign-in.ts";
import { RECEIVER_MS, type SendPorts } from "#shared/webhooks/send-webhooks.ts";
import type { AttemptPorts, DeliveryPlanPorts, WebhookPorts } from "#shared/webhooks/webhook-ports.ts";
import type { ConnectPorts } from "#shared/worker-socket/connect-worker.ts";
import type { WorkerReadPorts } from "#shared/workers/connected-workers.ts";
import type { Database } from "./database/database.ts";
import { openDatabase } from "./database/open-database.ts";
import { DiskBudget } from "./disk/disk-budget.ts";
import { diskFileStore } from "./files/disk-file-store.ts";
import { DiskFiles } from "./files/disk-files.ts";
import { createAppPorts } from "./github-app.ts";
import { projectRoot } from "./host/paths.ts";
import { modelProviders } from "./model-providers.ts";
import { Queues } from "./queue/queues.ts";
import { sqliteEventQueue, sqlitePassQueue, sqliteRunQueue } from "./queue/run-queues.ts";
import { EventOutbox, sqliteAttemptQueue } from "./queue/webhook-queues.ts";
import { moveFormerSecrets, openInstallationKey, vaultKeys } from "./secrets/installation-key.ts";
import { deriveKey } from "./secrets/key-file.ts";
import { SIGNING_KEY_FILE, signingKeyFile } from "./secrets/signing-key-file.ts";
import { createSignInIssuer } from "./sign-in-issuer.ts";
import { toSocketUrl } from "./sockets/socket-url.ts";
import { isPermitted } from "./switches.ts";
import { rebuildRunIndex } from "./table/rebuild-run-index.ts";
import { sqliteRunSearch } from "./table/run-search.ts";
import { type SqliteTable, sqliteTable } from "./table/sqlite-table.ts";
import { makeTickSender } from "./timers/tick-sender.ts";
import { Timers } from "./timers/timers.ts";

const GITHUB_API = "https://api.github.com";
const GITLAB_API = "https://gitlab.com/api/v4";
const SLACK_API = "https://slack.com/api";

/** The ports of all endpoints and consumers. */
export type ServerPorts = DispatchPorts &
  EndPorts &
  ReaperPorts &
  PromptPorts &
  FiringPorts &
  SecretPorts &
  SkillPorts &
  DiscoveryPorts &
  DeletionPorts &
  TeamDeletionPorts &
  WebhookPorts &
  DeliveryPlanPorts &
  AttemptPorts &
  LimitPorts &
  EventPorts &
  GatewayPorts &
  RoutePorts &
  WebSessionPorts &
  TokenPorts &
  OidcSignInPorts &
  ConnectPorts &
  WorkerReadPorts &
  RetentionPorts &
  IdentityTokenPorts &
  GuidePorts &
  DecisionPorts &
  AppIngressPorts &
  ClaimPorts &
  HttpPorts;

/** The adapters of an installation that are used in addition to its ports. */
export interface Adapters {
  readonly database: Database;
  readonly table: SqliteTable;
  /** Notified of each change of a run. */
  readonly signals: MemorySignals;
  readonly queues: Queues;
  readonly timers: Timers;
  readonly files: DiskFiles;
  readonly disk: DiskBudget;
  /** Signs the URLs of files. */
  readonly fileSecret: Uint8Array;
  readonly installationKey: Uint8Array;
  /** Keeps the keys that sign identity tokens. */
  readonly signingKeyStore: KeySetStore;
}

/**
 * Opens the data directory, which must exist.
 * @throws DatabaseInUse if another process has it open
 */
export async function openAdapters(directory: string, maxDiskBytes?: number): Promise<Adapters> {
  const disk = new DiskBudget(directory, maxDiskBytes);
  const database = openDatabase(path.join(directory, "runyard.db"));
  try {
    await rebuildRunIndex(database);
    const installationKey = await openInstallationKey(database, path.join(directory, "runyard.key"));
    await moveFormerSecrets(database, sqliteTable(database));
    const queues = new Queues(database, Date.now);
    const signals = memorySignals();
    const outbox = new EventOutbox(database, queues);
    return {
      database,
      table: sqliteTable(database, {
        onNewItem: outbox.send,
        onWrite: (key) => {
          signals.notify(parseRunId(key));
          outbox.wake(key);
        },
      }),
      signals,
      queues,
      timers: new Timers({ database, now: Date.now, send: makeTickSender(queues) }),
      files: await DiskFiles.open(path.join(directory, "files"), disk),
      disk,
      fileSecret: deriveKey(installationKey, "file URLs"),
      installationKey,
      signingKeyStore: signingKeyFile(path.join(directory, SIGNING_KEY_FILE)),
    };
  } catch (error) {
    await database.close();
    throw error;
  }
}

export interface PortOptions {
  /** Public address of the server, without a slash at its end. */
  readonly webUrl: string;
  /** That address where it is configured, and not only that of this machine. */
  readonly publicUrl?: string | undefined;
  readonly sandbox: Sandbox;
  readonly sockets: WorkerSockets;
  readonly scanner: Scanner;
  readonly environment: NodeJS.ProcessEnv;
  /** What harnesses can do here. @default they limit no network and run no images */
  readonly execution?: Pick<RunPorts, "networkLimits" | "findImageProblem">;
  /** The data directory, whose file may list providers of models. */
  readonly directory?: string;
}

/** The ports of the discovery of skills in repositories. */
const createDiscovery = (
  ports: Pick<DiscoveryPorts, "table" | "files" | "now">,
  { scanner, environment }: Pick<PortOptions, "scanner" | "environment">,
  github: Pick<DiscoveryPorts["github"], "app" | keyof GithubApi>,
): DiscoveryPorts => ({
  ...ports,
  scanner,
  github: { ...github, token: async () => environment["RUNYARD_GITHUB_TOKEN"] || undefined },
});

/** Discovers skills in this process, where a deployment on AWS invokes a function. */
const discoverHere = (ports: DiscoveryPorts): SkillPorts["discovery"] => ({
  async refresh({ url, ref, teams }) {
    await discoverSkills.handle({ v: 1, url, ...(ref === undefined ? {} : { ref }), teams }, ports);
  },
});

/** The ports of the function that calls other systems. */
const createSystemPorts = (
  vault: SystemPorts["vault"],
  now: () => number,
  environment: PortOptions["environment"],
  appTokens: SystemPorts["appTokens"],
): SystemPorts => ({
  vault,
  appTokens,
  fetch: createSystemFetch(),
  objectFetch: createObjectFetch(),
  // As harnesses on this machine connect to MCP servers.
  tokenFetch: createTokenFetch({
    allowsPrivate: isPermitted(environment, "RUNYARD_MCP_PRIVATE_NETWORKS"),
    allowsLoopback: isPermitted(environment, "RUNYARD_MCP_LOOPBACK"),
  }),
  addresses: {
    github: environment["RUNYARD_GITHUB_API_URL"] || GITHUB_API,
    gitlab: environment["RUNYARD_GITLAB_API_URL"] || GITLAB_API,
    slack: environment["RUNYARD_SLACK_API_URL"] || SLACK_API,
  },
  now,
  accessCache: new Map(),
});

const NO_EXECUTION: NonNullable<PortOptions["execution"]> = { networkLimits: () => [] };

/** Creates the ports of all endpoints and consumers from the adapters. */
export function createPorts(
  adapters: Adapters,
  { webUrl, publicUrl, sandbox, sockets, scanner, environment, execution = NO_EXECUTION, directory }: PortOptions,
): ServerPorts {
  const { database, queues, signals } = adapters;
  const now = Date.now;
  const table = auditedTable(adapters.table, now);
  const files = diskFileStore({
    files: adapters.files,
    secret: adapters.fileSecret,
    baseUrl: `${webUrl}/files`,
    downloadSeconds: signedUrlSeconds(),
    now,
  });
  const api = { apiUrl: environment["RUNYARD_GITHUB_API_URL"] || GITHUB_API, fetch, now };
  const { appTokens, ...appPorts } = createAppPorts(directory, environment, table, api);
  const github = { ...api, app: appPorts.app };
  const discovery = createDiscovery({ table, files, now }, { scanner, environment }, github);
  const vault = tableVault(adapters.table, vaultKeys(adapters.installationKey));
  const allowsPrivate = isPermitted(environment, "RUNYARD_WEBHOOKS_ALLOW_PRIVATE");
  const sending: SendPorts = {
    webhookSecrets: vault,
    fetch: createOutwardFetch({ allowsPrivate, timeoutMs: RECEIVER_MS }),
    now,
  };
  const systemPorts = createSystemPorts(vault, now, environment, appTokens);
  return {
    ...discovery,
    ...appPorts,
    webhookSecrets: vault,
    webhooks: { isAvailable: true, allowsPrivate },
    attempts: sqliteAttemptQueue(queues),
    sender: { send: (requests) => sendWebhooks.handle({ v: 1, requests }, sending) },
    files,
    fileRemoval: files,
    runs: runStore(table),
    search: sqliteRunSearch(database),
    signals,
    live: memoryLiveTails(now, (runId) => signals.notify(runId)),
    streamSeconds: 15 * 60,
    schedules: scheduleStore(table),
    scheduler: adapters.timers,
    queue: sqliteRunQueue(queues, table),
    events: sqliteEventQueue(queues),
    systems: { call: (request) => callSystems.handle({ v: 1, request }, systemPorts) },
    tokens: { renew: (request) => callSystems.handle({ v: 1, request }, systemPorts) },
    passes: sqlitePassQueue(queues),
    // They have a consumer of their own.
    deadRuns: { drain: async () => undefined },
    vault,
    principals: principalStore(table, now),
    cursors: cursors(table),
    rates: configuredRateLimits(),
    signInIssuer: createSignInIssuer(environment, now),
    issuers: createIssuers({ now, allowsPrivate: isPermitted(environment, "RUNYARD_OIDC_ALLOW_PRIVATE") }),
    who: [],
    scope: "",
    routes: routePaths.map(([method, route]) => [method, route]),
    baseUrl: `${webUrl}/api/v1`,
    guides: guideFiles(path.join(projectRoot, "docs")),
    issuerUrl: toIssuerUrl(publicUrl === undefined ? undefined : `${publicUrl}/api/v1`),
    spans: createSpanExporter(environment),
    signingKeys: createSigningKeys(adapters.signingKeyStore, now),
    webUrl,
    sockets,
    workerSocketUrl: toSocketUrl(webUrl),
    // A connection is known here before its handshake ends.
    settleSeconds: 0,
    sandbox,
    offered: ["process"],
    hasContainers: false,
    // The machine costs the same without the run.
    sandboxUsdPerHour: 0,
    ...execution,
    providers: modelProviders(environment, directory),
    log: logLine,
    sleep: async (milliseconds) => void (await sleep(milliseconds)),
    discovery: discoverHere(discovery),
  };
}

/** The ports of the endpoint of a route: with who may call it, and the scope that its callers need. */
export const toRoutePorts = (ports: ServerPorts, { who, scope }: Route): ServerPorts => ({
  ...ports,
  who: who === "public" ? ["public"] : who,
  scope,
});
