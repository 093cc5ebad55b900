// The layers of the codebase: a folder says what its files may import, and these rules enforce it. Package paths are matched without
// an anchor at the start, because a linked node_modules resolves to its real path.
const runtime = "^(functions|shared|server|harness|cli|web)/";
const cdk = "(^|/)node_modules/(aws-cdk-lib|aws-cdk|constructs|cdk-nag|@aws-cdk)/";
const aws = "(^|/)node_modules/(@aws-sdk|@smithy|@aws-lambda-powertools)/";
const awsSdk = "(^|/)node_modules/(@aws-sdk|@smithy)/";

/**
 * Files that still build table keys outside of a store. Do not add to this list: move the keys into the store of the domain and
 * remove the line.
 */
const keysOutsideStores = [];

/** @type {import("dependency-cruiser").IConfiguration} */
const routeTable = "^infra/(routes|rights)[.]ts$";
const contracts = "^shared/((wire|log)/|[^/]+[.]ts$)";
const ports = "^shared/(table|files|queue|sandbox|vault|timers|model-provider|live)/";
const records = "^shared/records/";
const access = "^shared/(principals|http|pagination|idempotency|limits)/";

/** @type {import("dependency-cruiser").IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: "contracts-import-contracts-only",
      comment: "The wire format, errors, ids and settings are the lowest layer of shared/.",
      severity: "error",
      from: { path: contracts },
      to: { path: "^shared/", pathNot: contracts },
    },
    {
      name: "ports-import-contracts-only",
      comment: "A port describes what the rules need from their infrastructure, and knows no rule.",
      severity: "error",
      from: { path: ports },
      to: { path: "^shared/", pathNot: [contracts, ports] },
    },
    {
      name: "records-import-ports-only",
      comment: "A record is the shape and the key of an item that several domains read; it has no rules.",
      severity: "error",
      from: { path: records },
      to: { path: "^shared/", pathNot: [contracts, ports, records] },
    },
    {
      name: "access-imports-records-only",
      comment: "Authentication, HTTP, pagination, idempotency and limits serve every domain, so they depend on none.",
      severity: "error",
      from: { path: access },
      to: { path: "^shared/", pathNot: [contracts, ports, records, access] },
    },
    {
      name: "adapters-import-ports-only",
      comment: "An adapter implements a port, so that another set of adapters needs no change elsewhere.",
      severity: "error",
      from: { path: "^shared/aws/" },
      to: { path: "^shared/", pathNot: [contracts, ports, "^shared/aws/"] },
    },
    {
      name: "only-wiring-joins-domains-and-adapters",
      comment: "Domains and endpoints get their ports as arguments; shared/wiring chooses the adapters.",
      severity: "error",
      from: { path: "^(functions|shared)/", pathNot: ["^shared/wiring/", "^shared/aws/"] },
      to: { path: "^shared/(aws|wiring)/" },
    },
    {
      name: "keys-are-for-stores",
      comment:
        "Key patterns of the table are known to stores and records; rules call a store's methods by domain names.",
      severity: "error",
      from: {
        path: "^(functions|shared)/",
        pathNot: ["-store[.]ts$", "^shared/(table|records|wiring)/", ...keysOutsideStores],
      },
      to: { path: "^shared/table/keys[.]ts$", dependencyTypesNot: ["type-only"] },
    },
    {
      name: "no-cycles-between-folders",
      comment: "Two folders that need each other are one folder, or hide a third.",
      severity: "error",
      scope: "folder",
      from: { path: "^(shared|harness)(/|$)" },
      to: { circular: true },
    },
    {
      name: "functions-call-shared-only",
      comment:
        "A function is its route and nothing else: rules live in shared/, and endpoints never import each other.",
      severity: "error",
      from: { path: "^functions/" },
      to: { path: "^(functions|infra|harness|server|emulator|operate|cli|web|scripts|lab)/" },
    },
    {
      name: "shared-imports-shared-only",
      comment: "Arrows point down: functions import shared, never the other way round.",
      severity: "error",
      from: { path: "^shared/" },
      to: { path: "^(functions|infra|harness|server|emulator|operate|cli|web|scripts|lab)/" },
    },
    {
      name: "infra-loads-no-runtime-code",
      comment:
        "Synthesizing must not depend on what the functions do; infra names their files and never imports them. The lists of shared/wire are data.",
      severity: "error",
      from: { path: "^infra/" },
      to: {
        path: "^(functions|shared|harness|server|emulator|operate|cli|web|scripts|lab)/",
        pathNot: "^shared/wire/",
      },
    },
    {
      name: "runtime-loads-no-cdk",
      comment: "A Lambda bundle with the CDK in it is fifty megabytes of someone else's program.",
      severity: "error",
      from: { path: runtime },
      // The server serves the routes of the deployment.
      to: { path: ["^infra/", cdk], pathNot: routeTable },
    },
    {
      name: "aws-is-spoken-at-the-edges",
      comment: "Only shared/aws and shared/wiring use the AWS SDK; rules and endpoints see ports.",
      severity: "error",
      from: {
        path: "^(functions|shared|server|cli|web|infra)/",
        // Synthesizing looks up a quota of the account.
        pathNot: ["^shared/(aws|wiring)/", "^infra/account-quota[.]ts$"],
      },
      to: { path: awsSdk },
    },
    {
      name: "server-loads-no-aws-client",
      comment:
        "The single machine needs no account: no adapter of AWS is loaded there, and nothing of infra or the emulator.",
      severity: "error",
      from: { path: "^server/", pathNot: "^server/host/" },
      to: {
        path: ["^(infra|emulator|operate|cli|web|scripts|lab)/", "^shared/aws/", aws],
        pathNot: routeTable,
        dependencyTypesNot: ["type-only"],
      },
    },
    {
      name: "wire-is-pure",
      comment:
        "shared/wire says what goes over the wire; everything may import it, so it imports only itself, valibot and ipaddr.js.",
      severity: "error",
      from: { path: "^shared/wire/" },
      to: { pathNot: ["^shared/wire/", "(^|/)node_modules/(valibot|ipaddr\\.js)/"] },
    },
    {
      name: "harness-speaks-http-only",
      comment: "The harness runs where the attacker is assumed to be: no control plane code and no cloud client in it.",
      severity: "error",
      from: { path: "^harness/" },
      to: {
        path: [
          "^(functions|shared|infra|server|emulator|operate|cli|web|scripts|lab)/",
          aws,
          "(^|/)node_modules/@middy/",
        ],
        // Both sides remove a directory tree that commands can write, and check a response, in the same way.
        pathNot: ["^shared/wire/", "^shared/(sandbox/remove-tree|output/check-output)[.]ts$"],
      },
    },
    {
      name: "image-begins-the-sandbox",
      comment:
        "The first program of a sandbox that is an image hands on to the sandbox's function, and knows nothing else of ours.",
      severity: "error",
      from: { path: "^image/" },
      to: {
        path: "^(functions|shared|infra|harness|server|emulator|operate|cli|web|scripts|lab)/",
        pathNot: "^functions/executions/run-sandbox\\.ts$",
      },
    },
    {
      name: "clients-speak-http-only",
      comment:
        "The web app, the command line and the programs of this machine know the service by its wire format alone. Making the first " +
        "key cannot: there is no key yet to make it with. Nor can the model gateway, which is a part of the service that " +
        "the emulator cannot run.",
      severity: "error",
      from: {
        path: ["^(web|cli|emulator|server/host)/", "^operate/(by-hand|observed-run|redrive|smoke|try-sandbox)"],
        pathNot: "^emulator/model-gateway\\.ts$",
      },
      to: { path: ["^(functions|shared|infra|harness|server)/"], pathNot: ["^shared/wire/", "^server/host/"] },
    },
    {
      name: "host-serves-every-program",
      comment:
        "server/host/ is what the programs of one machine share: the terminal, child processes, ports, the sample run. It knows " +
        "none of the programs.",
      severity: "error",
      from: { path: "^server/host/" },
      to: { path: ["^(emulator|operate|web|scripts|lab)/", "^server/(?!host/)"] },
    },
    {
      name: "command-stands-on-the-client",
      comment:
        "The command line and the GitHub Action are published, and call the service as everybody does. What terminals obey " +
        "has one definition for all.",
      severity: "error",
      from: { path: "^(cli|action)/" },
      to: {
        path: "^(functions|shared|infra|harness|server|emulator|operate|web|scripts|lab)/",
        pathNot: "^shared/wire/terminal-text\\.ts$",
      },
    },
    {
      name: "client-stands-alone",
      comment: "The client is published as it is: without dependencies, and for runtimes that are not Node.",
      severity: "error",
      from: { path: "^clients/typescript/src/" },
      to: { pathNot: "^clients/typescript/src/" },
    },
    {
      name: "nothing-imports-tests",
      comment: "Test helpers stay in test/.",
      severity: "error",
      from: { pathNot: "^test/" },
      to: { path: "^test/" },
    },
    {
      name: "no-cycles",
      comment: "Two files that need each other are one file, or hide a third.",
      severity: "error",
      from: {},
      to: { circular: true },
    },
    {
      name: "no-dev-dependency-at-runtime",
      comment:
        "What is bundled into a Lambda is a dependency, pinned and audited as one. Types cost nothing. The command line " +
        "is published with all of it inside, and has no dependencies.",
      severity: "error",
      from: { path: runtime, pathNot: "^cli/" },
      to: { dependencyTypes: ["npm-dev"], dependencyTypesNot: ["type-only"] },
    },
    {
      name: "everything-resolves",
      comment: "An import that resolves to nothing is checked by nothing.",
      severity: "error",
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    // TypeScript 7 is a native program without the API that dependency-cruiser would parse with; swc reads the same
    // files and shows type-only imports too.
    parser: "swc",
    tsPreCompilationDeps: true,
    doNotFollow: { path: "(^|/)node_modules/" },
    // What test/clients/consumer imports is the client's package as a test installs it; tasks are repositories of their own.
    exclude: { path: "^(cdk\\.out|\\.runyard|test/clients/consumer|lab/eval/tasks)/|(^|/)(dist|\\.venv)/" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["node", "import", "require", "default", "types"],
      mainFields: ["module", "main", "types"],
      extensions: [".ts", ".mjs", ".js", ".cjs", ".json", ".d.ts"],
    },
  },
};
