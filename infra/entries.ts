import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { eventSources } from "./event-sources.ts";
import { routes } from "./routes.ts";

/** A file of shared/wiring/ and the function in it that creates a handler's ports. */
type Wiring = readonly [file: string, createPorts: string];

const common: Wiring = ["common", "createTablePorts"];
const runs: Wiring = ["runs", "createRunEndpointPorts"];
const teams: Wiring = ["teams", "createTeamPorts"];

/** The functions that serve the pages of docs/, which infra/bundle.ts puts next to them. */
const guides: Wiring = ["docs", "createGuidePorts"];

/** The ports of every endpoint of a folder of functions/, and below of single files that need others. */
const wiringOfFolder: Readonly<Record<string, Wiring>> = {
  artifacts: runs,
  attachments: runs,
  conversations: runs,
  docs: ["docs", "createDocsPorts"],
  environments: common,
  fallback: ["docs", "createFallbackPorts"],
  harness: runs,
  identities: common,
  invitations: teams,
  keys: common,
  mcp: ["mcp", "createMcpPorts"],
  me: teams,
  model: ["model-gateway", "createGatewayPorts"],
  models: runs,
  runs,
  public: runs,
  "run-identity": ["run-identity", "createKeySetPorts"],
  schedules: ["schedules", "createSchedulePorts"],
  secrets: common,
  sessions: ["runs", "createRunPorts"],
  skills: ["skills", "createSkillPorts"],
  teams,
  token: ["token", "createTokenPorts"],
  triggers: common,
  github: common,
  "web-sessions": common,
  usage: common,
  audit: common,
  webhooks: ["webhooks", "createWebhookReadPorts"],
  workers: ["workers", "createWorkerListPorts"],
};

const wiringOfFile: Readonly<Record<string, Wiring>> = {
  "conversations/redirect-conversation": ["runs", "createRunPorts"],
  "docs/get-guide": guides,
  "docs/get-reference": guides,
  "docs/list-pages": guides,
  "environments/try-environment": runs,
  "executions/delete-old-runs": ["retention", "createRetentionPorts"],
  "executions/discover-skills": ["skills", "createDiscoveryPorts"],
  "executions/dispatch-run": ["executions", "createDispatchPorts"],
  "executions/end-run": ["executions", "createEndPorts"],
  "executions/fire-schedule": ["schedules", "createFiringPorts"],
  "executions/attempt-deliveries": ["webhooks", "createAttemptPorts"],
  "executions/call-systems": ["systems", "createSystemPorts"],
  "executions/decide-events": ["triggers", "createDecisionPorts"],
  "executions/plan-deliveries": ["webhooks", "createPlanPorts"],
  "executions/send-webhooks": ["webhook-secrets", "createSendPorts"],
  "executions/reap-runs": ["executions", "createReaperPorts"],
  "executions/reconcile-schedules": ["schedules", "createFiringPorts"],
  "harness/create-identity-token": ["run-identity", "createIdentityTokenPorts"],
  "harness/push-branch": ["triggers", "createPushPorts"],
  "harness/resolve-prompt": ["executions", "createPromptPorts"],
  "identities/delete-identity": ["identities", "createDeletionPorts"],
  "identities/create-trust-rule": ["token", "createTrustRulePorts"],
  "identities/delete-trust-rule": ["token", "createTrustRulePorts"],
  "identities/get-trust-rule": ["token", "createTrustRulePorts"],
  "identities/list-trust-rules": ["token", "createTrustRulePorts"],
  "identities/update-trust-rule": ["token", "createTrustRulePorts"],
  "run-identity/get-openid-configuration": ["docs", "createMetadataPorts"],
  "runs/stream-events": ["event-stream", "createStreamPorts"],
  "schedules/run-schedule": ["schedules", "createRunNowPorts"],
  "secrets/create-secret": ["secrets", "createSecretPorts"],
  "secrets/delete-secret": ["secrets", "createSecretPorts"],
  "teams/delete-team": ["webhook-secrets", "createTeamDeletionPorts"],
  "teams/update-team": ["teams", "createLimitPorts"],
  "web-sessions/exchange-code": ["oidc-sign-in", "createOidcSignInPorts"],
  "web-sessions/get-sign-in-methods": ["oidc-sign-in", "createSignInMethodPorts"],
  "triggers/create-trigger": ["triggers", "createTriggerPorts"],
  "triggers/update-trigger": ["triggers", "createTriggerWritePorts"],
  "triggers/delete-trigger": ["triggers", "createTriggerPorts"],
  "triggers/rotate-trigger-secret": ["triggers", "createTriggerPorts"],
  "triggers/test-trigger": ["triggers", "createTriggerTestPorts"],
  "github/create-installation-claim": ["github", "createClaimPorts"],
  "github/claim-installation": ["github", "createClaimPorts"],
  "triggers/receive-app-event": ["triggers", "createAppIngressPorts"],
  "triggers/receive-event": ["triggers", "createIngressPorts"],
  "triggers/get-trigger-delivery": runs,
  "triggers/redeliver-event": ["triggers", "createRedeliveryPorts"],
  "webhooks/create-webhook": ["webhook-secrets", "createWebhookPorts"],
  "webhooks/delete-webhook": ["webhook-secrets", "createWebhookPorts"],
  "webhooks/rotate-webhook-secret": ["webhook-secrets", "createWebhookPorts"],
  "workers/connect-worker": ["workers", "createConnectPorts"],
  "workers/disconnect-worker": ["workers", "createDisconnectPorts"],
  "workers/receive-frame": ["workers", "createFramePorts"],
};

/** The one function without ports: the sandbox has no right that a port could use. */
const withoutPorts: string = eventSources.runSandbox.file;

/** The files of functions/ that serve the pages of docs/. */
export const guideFunctions: readonly string[] = Object.keys(wiringOfFile).filter(
  (file) => wiringOfFile[file] === guides,
);

/** Every file of functions/ that is deployed, each once. */
export const entryFiles: readonly string[] = [
  ...new Set([...routes.map((route) => route.file), ...Object.values(eventSources).map(({ file }) => file)]),
];

/**
 * Writes the module that Lambda loads for each file of functions/: the endpoint or consumer, joined with its ports on AWS. Files of
 * functions/ themselves load no AWS client, so that other compositions can use them.
 * @returns for each file of functions/ the path of its entry module
 */
export function writeEntries(root: string, folder: string): ReadonlyMap<string, string> {
  rmSync(folder, { recursive: true, force: true });
  return new Map(
    entryFiles.map((file) => {
      const path = join(folder, `${file}.ts`);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, entrySource(file, relative(dirname(path), root)));
      return [file, path];
    }),
  );
}

function entrySource(file: string, root: string): string {
  const name = camelCase(file.slice(file.indexOf("/") + 1));
  const definition = `import { ${name} } from "${root}/functions/${file}.ts";\n`;
  if (file === withoutPorts) return sandboxSource(`${root}/functions/${file}.ts`);
  const [wiring, createPorts] = findWiring(file);
  return `${definition}import { ${createPorts} } from "${root}/shared/wiring/${wiring}.ts";

export const handler = ${name}.lambda(${createPorts});
`;
}

/** The infrastructure selects one of the two handlers, because the sandbox has no environment variables. */
const sandboxSource = (path: string): string =>
  `export { runSandbox as handler, runSandboxAndExit as sharedHandler } from "${path}";\n`;

/** The file of shared/wiring/ and the function in it that creates the ports of a file of functions/. */
export function findWiring(file: string): Wiring {
  const wiring = wiringOfFile[file] ?? wiringOfFolder[file.slice(0, file.indexOf("/"))];
  if (wiring === undefined) throw new Error(`infra/entries.ts does not say which ports functions/${file}.ts needs`);
  return wiring;
}

/** `create-run` → `createRun`. */
export const camelCase = (words: string): string =>
  words.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
