// The arrows of the house. Folders say what a file may touch; these rules hold it. Package paths are matched without an
// anchor at the start, because a linked node_modules resolves to where it really is.
const runtime = "^(functions|shared|harness|cli|web)/";
const cdk = "(^|/)node_modules/(aws-cdk-lib|aws-cdk|constructs|cdk-nag|@aws-cdk)/";
const aws = "(^|/)node_modules/(@aws-sdk|@smithy|@aws-lambda-powertools)/";
const awsSdk = "(^|/)node_modules/(@aws-sdk|@smithy)/";

/** @type {import("dependency-cruiser").IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: "functions-call-shared-only",
      comment:
        "A function is its route and nothing else: rules live in shared/, and endpoints never import each other.",
      severity: "error",
      from: { path: "^functions/" },
      to: { path: "^(functions|infra|harness|local|cli|web|scripts|bench|chaos)/" },
    },
    {
      name: "shared-imports-shared-only",
      comment: "Arrows point down: functions import shared, never the other way round.",
      severity: "error",
      from: { path: "^shared/" },
      to: { path: "^(functions|infra|harness|local|cli|web|scripts|bench|chaos)/" },
    },
    {
      name: "infra-loads-no-runtime-code",
      comment: "Synthesizing must not depend on what the functions do; infra names their files and never imports them.",
      severity: "error",
      from: { path: "^infra/" },
      to: { path: "^(functions|shared|harness|local|cli|web|scripts|bench|chaos)/" },
    },
    {
      name: "runtime-loads-no-cdk",
      comment: "A Lambda bundle with the CDK in it is fifty megabytes of someone else's program.",
      severity: "error",
      from: { path: runtime },
      to: { path: ["^infra/", cdk] },
    },
    {
      name: "aws-is-spoken-at-the-edges",
      comment: "Only *-store, *-queue, live.ts and shared/aws speak AWS; rules and endpoints see ports.",
      severity: "error",
      from: {
        path: "^(functions|shared|cli|web|infra)/",
        pathNot: ["^shared/aws/", "^shared/table/dynamo-table\\.ts$", "-(store|queue)\\.ts$", "(^|/)live\\.ts$"],
      },
      to: { path: awsSdk },
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
        path: ["^(functions|shared|infra|local|cli|web|scripts|bench|chaos)/", aws, "(^|/)node_modules/@middy/"],
        pathNot: "^shared/wire/",
      },
    },
    {
      name: "image-begins-the-sandbox",
      comment:
        "The first program of a sandbox that is an image hands on to the sandbox's function, and knows nothing else of ours.",
      severity: "error",
      from: { path: "^image/" },
      to: {
        path: "^(functions|shared|infra|harness|local|cli|web|scripts|bench|chaos)/",
        pathNot: "^functions/execution/run-sandbox\\.ts$",
      },
    },
    {
      name: "clients-speak-http-only",
      comment:
        "The web app, the command line and the local cloud know the service by its wire format alone. Making the first " +
        "key cannot: there is no key yet to make it with. Nor can the model gateway, which is a part of the service that " +
        "the emulator cannot run.",
      severity: "error",
      from: { path: "^(web|cli|local)/", pathNot: "^local/(bootstrap|model-gateway)\\.ts$" },
      to: { path: ["^(functions|shared|infra|harness)/"], pathNot: "^shared/wire/" },
    },
    {
      name: "command-stands-on-the-client",
      comment: "The command line and the GitHub Action are published, and call the service as everybody does.",
      severity: "error",
      from: { path: "^(cli|action)/" },
      to: { path: "^(functions|shared|infra|harness|local|web|scripts|bench|chaos)/" },
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
    // What test/clients/consumer imports is the client's package as a test installs it.
    exclude: { path: "^(cdk\\.out|\\.runyard|test/clients/consumer)/|(^|/)(dist|\\.venv)/" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["node", "import", "require", "default", "types"],
      mainFields: ["module", "main", "types"],
      extensions: [".ts", ".mjs", ".js", ".cjs", ".json", ".d.ts"],
    },
  },
};
