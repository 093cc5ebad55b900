import * as v from "valibot";

/**
 * The tests that the mutants of a folder are tried with: those nearest to it, and fast. The longest folder that a mutated
 * file is in decides. A survivor may still be caught by a slower test elsewhere; the nearest tests are to notice.
 */
const SUITES: Readonly<Record<string, readonly string[]>> = {
  shared: ["test/domain", "test/api", "test/store", "test/security/m*"],
  "shared/budgets": [
    "test/domain/reservations.test.ts",
    "test/api/model-budgets.test.ts",
    "test/security/model-budgets.test.ts",
  ],
  "shared/limits": ["test/api/{rate-limits,scope-limits}.test.ts"],
  "shared/model-gateway": [
    "test/domain/{metering,reservations}.test.ts",
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
  "harness/isolation": ["test/harness/{sandbox,seccomp}.test.ts", "test/security/isolation-boundary.test.ts"],
  "harness/redaction": ["test/harness/{redact,redact-everything,output}.test.ts"],
  infra: ["test/infra"],
  server: ["test/server"],
  cli: ["test/cli"],
  action: ["test/cli"],
  "clients/typescript": ["test/clients"],
};

/** They start services, browsers or package managers, measure time or memory, or read the whole repository. */
const SLOW = [
  "test/api/{openapi*,principals}.test.ts",
  "test/domain/truncate.test.ts",
  "test/cli/{live,package}.test.ts",
  "test/clients/{memory,package,python-*,readme,generated}.test.ts",
  "test/harness/{execution,checkpoints,agent-turns,agent-try,image,remote-*}.test.ts",
  "test/infra/bundle.test.ts",
  "test/server/{serve,restarts,package,command,imports,other-users,doctor,background,harness-programs}.test.ts",
];

export const MUTABLE_FOLDERS = Object.keys(SUITES);
const VARIABLE = "RUNYARD_MUTATION_TESTS";

/** Undefined for a file of a folder that is not mutated. */
export function findSuite(file: string): readonly string[] | undefined {
  const folders = MUTABLE_FOLDERS.filter((folder) => file === folder || file.startsWith(`${folder}/`));
  const nearest = folders.sort((one, other) => other.length - one.length)[0];
  return nearest === undefined ? undefined : SUITES[nearest];
}

/** The tests as globs for the process that runs them, which Stryker starts. */
export function testsToEnvironment(suite: readonly string[]): Readonly<Record<string, string>> {
  return { [VARIABLE]: JSON.stringify(suite) };
}

export function testsFromEnvironment(): { include: string[]; exclude: string[] } {
  const suite = v.parse(v.array(v.string()), JSON.parse(process.env[VARIABLE] ?? "[]"));
  const include = suite.map((path) => (path.endsWith(".ts") ? path : `${path}/**/*.test.ts`));
  return { include, exclude: SLOW.filter((slow) => !suite.includes(slow)) };
}
