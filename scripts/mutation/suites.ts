import { matchesGlob } from "node:path";
import * as v from "valibot";

/**
 * The tests that the mutants of a folder are tried with: those nearest to it, and fast. The longest folder that a mutated
 * file is in decides. A survivor may still be caught by a slower test elsewhere; the nearest tests are to notice.
 */
const SUITES: Readonly<Record<string, readonly string[]>> = {
  shared: ["test/domain", "test/api", "test/store", "test/security/m*.test.ts"],
  "shared/budgets": [
    "test/domain/reservations.test.ts",
    "test/api/model-budgets.test.ts",
    "test/security/model-budgets.test.ts",
  ],
  "shared/limits": ["test/api/{rate-limits,scope-limits}.test.ts"],
  "shared/model-gateway": [
    "test/domain/{model-filters,model-prices,model-upstream,reservations}.test.ts",
    "test/api/{model-gateway,model-budgets,models,provider-stop,usage}.test.ts",
    "test/security/model-budgets.test.ts",
  ],
  "shared/pagination": [
    "test/domain/{cursors,pages}.test.ts",
    "test/api/{contract-lists,conversation-pages,list-runs}.test.ts",
  ],
  "shared/principals": [
    "test/domain/{keys,principals}.test.ts",
    "test/api/{create-run,keys,local-run,run-key,web-sessions}.test.ts",
    "test/security/removed-members.test.ts",
  ],
  "shared/table": ["test/domain/{expressions,transact}.test.ts", "test/store/memory.test.ts"],
  functions: ["test/api"],
  harness: ["test/harness"],
  "harness/agent": ["test/harness/{agent-answers,agent-brief,agent-files,agent-service,agent-task}.test.ts"],
  "harness/commands": ["test/harness/{live-output,output,redact-everything,runbook,sandbox,steps}.test.ts"],
  "harness/control-plane": ["test/harness/{http,outbox,remote-agents}.test.ts"],
  "harness/engine": [
    "test/harness/{resume,runbook,agent-task}.test.ts",
    "test/security/cancelled-instructions.test.ts",
  ],
  "harness/git": [
    "test/harness/{clones,private-repositories}.test.ts",
    "test/security/{outward-addresses,repository-credentials}.test.ts",
  ],
  "harness/isolation": [
    "test/harness/{isolation,processes,resource-watch,sandbox,seccomp}.test.ts",
    "test/security/isolation-boundary.test.ts",
  ],
  "harness/network": ["test/harness/mcp.test.ts", "test/security/outward-addresses.test.ts"],
  "harness/redaction": ["test/harness/{output,redact}.test.ts"],
  "harness/reporting": ["test/harness/{changes,live-output,outbox,remote-artifacts}.test.ts"],
  "harness/skills": ["test/harness/{clones,scan}.test.ts"],
  "harness/steps": ["test/harness/steps.test.ts"],
  "harness/third-party": ["test/harness/{third-party-models,third-party-readers,turn-script}.test.ts"],
  "harness/tools": [
    "test/harness/{agent-files,mcp,mcp-run,remote-agents,remote-artifacts,tool-names}.test.ts",
    "test/security/outward-addresses.test.ts",
  ],
  infra: ["test/infra"],
  server: ["test/server"],
  "server/database": ["test/server/{database,table}.test.ts"],
  "server/disk": ["test/server/disk.test.ts"],
  "server/files": ["test/server/{disk,files}.test.ts"],
  "server/queue": ["test/server/{control-plane,queues}.test.ts"],
  "server/sandbox": ["test/server/{control-plane,harness-programs}.test.ts"],
  "server/secrets": ["test/server/secrets.test.ts"],
  "server/table": ["test/server/{lists,table}.test.ts"],
  "server/timers": ["test/server/{control-plane,timers}.test.ts"],
  cli: ["test/cli"],
  action: ["test/cli"],
  "clients/typescript": ["test/clients"],
};

/**
 * They start services, bundles, browsers or package managers, measure time or memory, or read the whole repository. A suite runs them only if it
 * names the file.
 */
const SLOW = [
  ...["openapi", "openapi-texts", "principals"].map((name) => `test/api/${name}.test.ts`),
  "test/domain/truncate.test.ts",
  ...["action", "live", "package"].map((name) => `test/cli/${name}.test.ts`),
  ...["memory", "package", "python-live", "python-package", "readme", "generated"].map(
    (name) => `test/clients/${name}.test.ts`,
  ),
  ...["execution", "checkpoints", "agent-turns", "agent-try", "image"].map((name) => `test/harness/${name}.test.ts`),
  ...["agents", "artifacts", "service"].map((name) => `test/harness/remote-${name}.test.ts`),
  "test/infra/bundle.test.ts",
  "test/security/linear-time.test.ts",
  "test/server/fair-start.test.ts",
  ...["serve", "restarts", "package", "imports", "other-users", "doctor", "background", "harness-programs"].map(
    (name) => `test/server/${name}.test.ts`,
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
  const suite = v.parse(v.array(v.string()), JSON.parse(process.env[VARIABLE] ?? "[]"));
  const include = suite.map((path) => (path.endsWith(".ts") ? path : `${path}/**/*.test.ts`));
  const named = suite.filter((path) => path.endsWith(".ts"));
  return { include, exclude: SLOW.filter((slow) => !named.some((pattern) => matchesGlob(slow, pattern))) };
}
