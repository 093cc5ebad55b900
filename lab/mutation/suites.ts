import { matchesGlob } from "node:path";
import * as v from "valibot";

/** What every endpoint has in common: its description, repeated requests, cursors, permissions. */
const EVERY_ENDPOINT = ["test/api/**/{contract-lists,contract-rules,list-cursors,openapi}.test.ts"];

/**
 * The tests that the mutants of a folder are tried with: those nearest to it, and fast. The longest folder that a mutated
 * file is in decides. A survivor may still be caught by a slower test elsewhere; the nearest tests are to notice.
 */
const SUITES: Readonly<Record<string, readonly string[]>> = {
  shared: ["test/domain", "test/api", "test/store", "test/security/m*.test.ts"],
  "shared/budgets": ["test/domain/**/{reservations,team-months}.test.ts", "test/api/budgets/team-budgets.test.ts"],
  "shared/conversations": [
    "test/api/**/{artifacts,caps,conversation-pages,conversation-rules,delegated,life,live-output,local-run}.test.ts",
    "test/api/**/{pending-followups,raw-transcripts,redirects,send-followup,snapshots,stored-items,stream-events}.test.ts",
    "test/api/**/{checkpoints,conversation-steps,followup-attachments,followup-changes,followup-queue,stream-ends,submitted-prompt}.test.ts",
    "test/security/{bucket-rights,cancelled-instructions}.test.ts",
  ],
  "shared/executions": [
    "test/api/**/{blocked,cancel-runs,caps,execution-rules,finish-with-messages,harness-support,life}.test.ts",
    "test/api/**/{loaded-skill,local-run,notify-user,provider-stop,recovery,run-as-identity,run-key}.test.ts",
    "test/api/**/{checkpoints,execution-calls,reaper-checks,return-to-queue,stale-executions}.test.ts",
    "test/api/**/{run-repository-tokens,slots,snapshots}.test.ts",
    "test/api/**/{stored-items,worker-runs}.test.ts",
    "test/security/bucket-rights.test.ts",
  ],
  "shared/files": ["test/domain/**/{file-keys,kept-upload,texts}.test.ts"],
  "shared/idempotency": ["test/domain/**/{idempotency,texts}.test.ts"],
  "shared/live": ["test/domain/events/live.test.ts"],
  "shared/models": ["test/domain/models/model-catalogue.test.ts", "test/api/models/models.test.ts"],
  "shared/keys": [
    "test/domain/keys/keys.test.ts",
    "test/api/**/{keys,rate-limits,write-conflicts}.test.ts",
    "test/security/removed-members.test.ts",
  ],
  "shared/environments": [
    "test/domain/environments/environments.test.ts",
    "test/api/**/{child-rights,contract-environments,environments,run-secrets,scope-limits,skills,write-conflicts}.test.ts",
    "test/security/{link-guests,repository-credentials}.test.ts",
  ],
  "shared/identities": [
    "test/api/**/{contract-identities,identities,run-as-identity,token,write-conflicts}.test.ts",
    "test/security/removed-members.test.ts",
  ],
  "shared/limits": ["test/api/**/{rate-limits,scope-limits}.test.ts"],
  "shared/model-gateway": [
    "test/domain/**/model-{dialects,filters,prices,relay,upstream}.test.ts",
    "test/api/**/{model-gateway,model-budgets,model-responses,team-budgets}.test.ts",
    "test/security/model-budgets.test.ts",
  ],
  "shared/oidc": ["test/domain/keys/issuers.test.ts", "test/api/**/{oidc-sign-in,token}.test.ts"],
  "shared/pagination": [
    "test/domain/**/{cursors,pages}.test.ts",
    "test/api/**/{contract-lists,conversation-pages,list-runs}.test.ts",
  ],
  "shared/principals": [
    "test/domain/**/{keys,principals}.test.ts",
    "test/api/**/{create-run,keys,local-run,run-key,web-sessions}.test.ts",
    "test/security/removed-members.test.ts",
  ],
  "shared/artifacts": [
    "test/api/**/{artifacts,attachments,harness-support,rights}.test.ts",
    "test/security/bucket-rights.test.ts",
  ],
  "shared/aws": [
    "test/store/{aws-adapters,dynamo-table,missing-objects}.test.ts",
    "test/infra/wiring.test.ts",
    "test/domain/models/metering.test.ts",
    "test/api/executions/sandbox-providers.test.ts",
    "test/reliability/{aws-faults,aws-limits,lambda-sandbox}.test.ts",
  ],
  "shared/docs": ["test/domain/http/reference-page.test.ts", "test/api/http/docs.test.ts"],
  "shared/http": [
    "test/domain/**/{endpoints,request-bodies,requests,responses,session-cookies,truncate}.test.ts",
    "test/api/**/{create-run,keys,run-key,streamed,stream-events,validation-messages,web-sessions}.test.ts",
    "test/security/{caller-kind,invalid-members,invalid-utf8}.test.ts",
  ],
  "shared/retention": ["test/api/**/{change-runs,retention}.test.ts", "test/server/lists/lists.test.ts"],
  "shared/run-identity": ["test/api/**/{identity-token,token}.test.ts"],
  "shared/sandbox": [
    "test/domain/capacity/sandbox-choice.test.ts",
    "test/harness/**/{harness-process,processes,run-sandbox,scan,scan-program}.test.ts",
    "test/server/executions/harness-programs.test.ts",
    "test/api/executions/sandbox-providers.test.ts",
  ],
  "shared/secrets": [
    "test/api/**/{child-rights,environments,run-secrets,secrets,teams}.test.ts",
    "test/server/transfer/transfer.test.ts",
  ],
  "shared/webhooks": ["test/domain/webhooks/webhooks.test.ts", "test/api/**/{webhook-rules,webhooks}.test.ts"],
  "shared/dry-run": ["test/api/runs/dry-run.test.ts"],
  "shared/refusals.ts": ["test/api/runs/dry-run.test.ts"],
  "shared/arrays.ts": ["test/domain/records/arrays.test.ts"],
  "shared/characters.ts": ["test/domain/conversations/texts.test.ts"],
  "shared/errors.ts": ["test/domain/**/{requests,settings,texts}.test.ts"],
  "shared/ids.ts": ["test/domain/**/{requests,settings,texts}.test.ts"],
  "shared/random.ts": ["test/domain/**/{requests,settings,texts}.test.ts"],
  "shared/settings.ts": ["test/domain/**/{requests,settings,texts}.test.ts"],
  "shared/log": ["test/domain/http/settings.test.ts"],
  "shared/wiring": ["test/infra/wiring.test.ts"],
  "shared/queue": ["test/domain/capacity/queues.test.ts"],
  "shared/timers": ["test/domain/capacity/queues.test.ts"],
  "shared/vault": ["test/store/vault.test.ts"],
  "shared/records": [
    "test/domain/**/{keys,principals,records,texts,usage}.test.ts",
    "test/api/**/{artifacts,contract-runs,life,list-runs,local-run,recovery,run-as-identity,scope-limits}.test.ts",
    "test/api/**/{slots,snapshots,stored-items,teams,token,worker-runs}.test.ts",
    "test/security/{cancelled-instructions,membership-consent,repository-credentials}.test.ts",
  ],
  "shared/runs": [
    "test/domain/**/{actors,admit-run,list-search,list-segments,run-lists,run-writes,state-machine,wait-queue}.test.ts",
    "test/api/**/{new-runs,recount,return-to-queue,stale-executions,tree-changes,wait-queue}.test.ts",
    "test/api/**/{attachments,bad-input,blocked,cancel-run,cancel-runs,capacity,child-rights,contract-runs}.test.ts",
    "test/api/**/{create-run,deployment-capacity,harness-support,harnesses,life,list-runs,local-run,recovery}.test.ts",
    "test/api/**/{run-as-identity,schedule-firing,send-followup,slots,stored-items}.test.ts",
    "test/security/run-key-limits.test.ts",
  ],
  "shared/runs/listing": [
    "test/domain/**/{fuzzy-search,list-search,list-segments,list-sources,run-lists,search-sources}.test.ts",
    "test/api/**/{cancel-runs,change-runs,contract-runs,list-descendants,list-runs,list-thousands}.test.ts",
    "test/server/lists/lists.test.ts",
  ],
  "shared/worker-socket": ["test/api/**/{worker-offers,worker-runs,workers}.test.ts"],
  "shared/model-provider": ["test/domain/**/model-{catalogue,upstream}.test.ts"],
  "shared/wire": [
    "test/domain/**/{schemas,skill-md,texts}.test.ts",
    "test/api/**/{bad-input,contract-configs,contract-runs,secrets,validation-messages,wrong-values}.test.ts",
    "test/security/{outward-addresses,repository-credentials}.test.ts",
  ],
  "shared/workers": [
    "test/domain/workers/worker-store.test.ts",
    "test/api/**/{cancel-run,recovery,worker-offers,worker-runs,worker-stops,workers}.test.ts",
  ],
  "shared/usage": ["test/domain/budgets/usage.test.ts"],
  "shared/table": [
    "test/domain/**/{expressions,stored-keys,table-values,transact}.test.ts",
    "test/store/memory.test.ts",
  ],
  "shared/schedules": [
    "test/domain/schedules/cron.test.ts",
    "test/api/**/{contract-schedules,rate-limits,schedule-firing,schedule-recovery,schedules,scope-limits,write-conflicts}.test.ts",
  ],
  "shared/skills": [
    "test/domain/**/{github-api,skill-md,skill-repositories,truncate-prompts}.test.ts",
    "test/api/**/{loaded-skill,run-as-identity,run-repository-tokens,skill-discovery,skill-discovery-app,skills}.test.ts",
  ],
  "shared/teams": [
    "test/api/**/{contract-teams,invitations,oidc-sign-in,scope-limits,teams,write-conflicts}.test.ts",
    "test/security/{link-guests,membership-consent,removed-members}.test.ts",
  ],
  "shared/web-sessions": [
    "test/domain/keys/describe-browser.test.ts",
    "test/api/**/{oidc-sign-in,rate-limits,web-sessions}.test.ts",
  ],
  functions: ["test/api"],
  "functions/artifacts": ["test/api/artifacts/artifacts.test.ts", ...EVERY_ENDPOINT],
  "functions/attachments": ["test/api/**/{attachments,rights}.test.ts", ...EVERY_ENDPOINT],
  "functions/conversations": ["test/api/**/{conversation-pages,read-run,redirects}.test.ts", ...EVERY_ENDPOINT],
  "functions/docs": ["test/api/http/docs.test.ts", ...EVERY_ENDPOINT],
  "functions/environments": ["test/api/**/{contract-environments,environments}.test.ts", ...EVERY_ENDPOINT],
  "functions/executions": [
    "test/api/**/{life,recovery,schedule-firing,schedule-recovery,skill-discovery,slots,usage,worker-runs}.test.ts",
    "test/harness/sandbox/run-sandbox.test.ts",
    ...EVERY_ENDPOINT,
  ],
  "functions/harness": [
    "test/api/**/{finish-with-messages,harness-support,life,live-output,loaded-skill,notify-user,raw-transcripts,snapshots}.test.ts",
    ...EVERY_ENDPOINT,
  ],
  "functions/identities": ["test/api/**/{contract-identities,identities,keys,token}.test.ts", ...EVERY_ENDPOINT],
  "functions/invitations": [
    "test/api/teams/invitations.test.ts",
    "test/security/membership-consent.test.ts",
    ...EVERY_ENDPOINT,
  ],
  "functions/keys": ["test/api/keys/keys.test.ts", ...EVERY_ENDPOINT],
  "functions/me": ["test/api/teams/teams.test.ts", ...EVERY_ENDPOINT],
  "functions/models": ["test/api/models/models.test.ts", ...EVERY_ENDPOINT],
  "functions/public": ["test/security/link-guests.test.ts", ...EVERY_ENDPOINT],
  "functions/run-identity": ["test/api/identities/identity-token.test.ts", ...EVERY_ENDPOINT],
  "functions/runs": [
    "test/api/**/{cancel-run,cancel-runs,change-runs,contract-runs,create-run,life,list-runs,read-run,send-followup,snapshots,stream-events}.test.ts",
    "test/security/ignored-options.test.ts",
    ...EVERY_ENDPOINT,
  ],
  "functions/schedules": ["test/api/**/{contract-schedules,schedules}.test.ts", ...EVERY_ENDPOINT],
  "functions/secrets": ["test/api/secrets/secrets.test.ts", ...EVERY_ENDPOINT],
  "functions/sessions": ["test/api/conversations/redirects.test.ts", ...EVERY_ENDPOINT],
  "functions/skills": ["test/api/skills/skills.test.ts", ...EVERY_ENDPOINT],
  "functions/teams": ["test/api/**/{contract-teams,scope-limits,teams}.test.ts", ...EVERY_ENDPOINT],
  "functions/token": ["test/api/keys/token.test.ts", ...EVERY_ENDPOINT],
  "functions/usage": ["test/api/budgets/usage.test.ts", ...EVERY_ENDPOINT],
  "functions/web-sessions": ["test/api/**/{oidc-sign-in,web-sessions}.test.ts", ...EVERY_ENDPOINT],
  "functions/workers": ["test/api/**/{worker-runs,workers}.test.ts", ...EVERY_ENDPOINT],
  harness: ["test/harness"],
  "harness/agent": ["test/harness/{agent-{responses,engine,history,tool},model-{responses,retries,transport}}.test.ts"],
  "harness/commands": ["test/harness/**/{commands,output}.test.ts"],
  "harness/control-plane": ["test/harness/**/{control-plane,http,outbox,transfer}.test.ts"],
  "harness/engine": ["test/harness/**/{resume,runbook}.test.ts", "test/security/cancelled-instructions.test.ts"],
  "harness/files": ["test/harness/workspace/path-containment.test.ts"],
  "harness/git": [
    "test/harness/**/{changes,clones,git,private-repositories}.test.ts",
    "test/security/{outward-addresses,repository-credentials}.test.ts",
  ],
  "harness/isolation": [
    "test/harness/**/{boundary-trial,host,isolation,network-namespace,processes,resource-watch,seccomp}.test.ts",
  ],
  "harness/network": ["test/security/outward-addresses.test.ts"],
  "harness/redaction": ["test/harness/**/{output,redact}.test.ts"],
  "harness/reporting": ["test/harness/**/{artifacts,change-collector,live-output,outbox}.test.ts"],
  "harness/session": ["test/harness/**/{followups,session}.test.ts"],
  "harness/setup": ["test/harness/**/{saved-workspace,setup}.test.ts"],
  "harness/skills": ["test/harness/**/{clones,scan,skills}.test.ts"],
  "harness/steps": ["test/harness/agent/steps.test.ts"],
  "harness/support": ["test/harness/**/{output,support,throttle}.test.ts"],
  "harness/third-party": ["test/harness/{third-party-*,turn-script}.test.ts"],
  "harness/tools": [
    "test/harness/**/{agent-tools,mcp-connection,mcp-process,outward-fetch,remote-tools,toolbox}.test.ts",
    "test/security/outward-addresses.test.ts",
  ],
  infra: ["test/infra/{acknowledgements,bundle,concurrency,grants,routes,settings,templates,wiring}.test.ts"],
  server: [
    "test/server/**/{control-plane,sign-in-issuer}.test.ts",
    "test/server/command/{admin-key,options,serve-command}.test.ts",
    "test/server/http/http-server.test.ts",
  ],
  "server/command": [
    "test/server/command/command.test.ts",
    "test/server/command",
    "test/server/doctor/checks.test.ts",
    "test/server/transfer/copies.test.ts",
  ],
  "server/database": [
    "test/server/**/{database,table}.test.ts",
    "test/server/command/processes.test.ts",
    "test/server/transfer/copies.test.ts",
  ],
  "server/disk": ["test/server/records/disk.test.ts", "test/server/command/options.test.ts"],
  "server/doctor": [
    "test/server/command/doctor.test.ts",
    "test/server/doctor",
    "test/server/command/serve-command.test.ts",
  ],
  "server/files": ["test/server/**/{disk,files}.test.ts"],
  "server/http": [
    "test/server/**/{api-event,command,control-plane,load-shedder}.test.ts",
    "test/server/http",
    "test/server/command/admin-key.test.ts",
  ],
  "server/queue": ["test/server/**/{control-plane,queues}.test.ts", "test/server/queue"],
  "server/sandbox": ["test/server/**/{control-plane,harness-programs}.test.ts", "test/server/sandbox"],
  "server/secrets": ["test/server/secrets/secrets.test.ts"],
  "server/sockets": ["test/server/sockets", "test/server/command/options.test.ts"],
  "server/table": ["test/server/**/{control-plane,lists,table}.test.ts"],
  "server/timers": ["test/server/**/{control-plane,timers}.test.ts"],
  "server/transfer": ["test/server/command/destination.test.ts", "test/server/transfer"],
  "server/worker": ["test/server/workers/worker-connection.test.ts", "test/server/worker"],
  cli: ["test/cli"],
  action: ["test/cli/action.test.ts"],
  "clients/typescript": ["test/clients"],
};

/**
 * They start services, bundles, browsers or package managers, measure time or memory, or read the whole repository. A suite runs them only if it
 * names the file.
 */
const SLOW = [
  ...["openapi", "openapi-texts", "principals"].map((name) => `test/api/**/${name}.test.ts`),
  "test/domain/conversations/truncate.test.ts",
  ...["action-file", "live", "package"].map((name) => `test/cli/${name}.test.ts`),
  ...["memory", "package", "python-live.full", "python-package.full", "readme", "generated"].map(
    (name) => `test/clients/${name}.test.ts`,
  ),
  ...["execution", "checkpoints", "agent-turns", "agent-try", "image"].map((name) => `test/harness/**/${name}.test.ts`),
  ...["agents", "artifacts", "service"].map((name) => `test/harness/*/remote-${name}.test.ts`),
  "test/infra/deployed-code.test.ts",
  "test/security/linear-time.test.ts",
  "test/server/executions/fair-start.test.ts",
  ...["dynamodb-local", "emulated"].map((name) => `test/store/${name}.full.test.ts`),
  ...["serve", "restarts", "package", "imports", "other-users", "background", "harness-programs"].map(
    (name) => `test/server/**/${name}.test.ts`,
  ),
];

export const MUTABLE_FOLDERS = Object.keys(SUITES);
const VARIABLE = "RUNYARD_MUTATION_TESTS";

/** The folder whose tests a file's mutants are tried with; undefined for a file of a folder that is not mutated. */
export function findFolder(file: string): string | undefined {
  const folders = MUTABLE_FOLDERS.filter((folder) => file === folder || file.startsWith(`${folder}/`));
  return folders.sort((one, other) => other.length - one.length)[0];
}

/** The tests of a file or folder; undefined if it is not mutated. */
export function findSuite(file: string): readonly string[] | undefined {
  const folder = findFolder(file);
  return folder === undefined ? undefined : SUITES[folder];
}

/** The tests as globs for the process that runs them, which Stryker starts. */
export function testsToEnvironment(suite: readonly string[]): Readonly<Record<string, string>> {
  return { [VARIABLE]: JSON.stringify(suite) };
}

export function testsFromEnvironment(): { include: string[]; exclude: string[] } {
  return selectTests(v.parse(v.array(v.string()), JSON.parse(process.env[VARIABLE] ?? "[]")));
}

/** Globs of the test files of a suite, and of those among them that are left out. */
export function selectTests(suite: readonly string[]): { include: string[]; exclude: string[] } {
  const include = suite.map((path) => (path.endsWith(".ts") ? path : `${path}/**/*.test.ts`));
  const named = suite.filter((path) => path.endsWith(".ts"));
  return { include, exclude: SLOW.filter((slow) => !named.some((pattern) => matchesGlob(slow, pattern))) };
}
