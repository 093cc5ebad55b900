/** `node scripts/routes.ts`: every route with who may call it and what its function may do. `--json` prints the same for programs. */
import { parseArgs } from "node:util";
import { grant, type Targets } from "#infra/constructs/grants.ts";
import { type Route, routes } from "#infra/routes.ts";

export interface DescribedRoute {
  readonly method: Route["method"];
  readonly path: string;
  /** File in functions/ that implements the route. */
  readonly file: string;
  /** Kinds of keys that may call the route, or `public`. */
  readonly callers: readonly string[];
  /** The scope that a credential needs, or the name of the exception. */
  readonly scope: Route["scope"];
  /** Whether requests without a key are served too. */
  readonly keyOptional: boolean;
  /** What the role of the function may do, besides writing its own log and traces. */
  readonly rights: readonly DescribedRight[];
}

export interface DescribedRight {
  /** Actions of IAM, such as `dynamodb:GetItem`. */
  readonly actions: readonly string[];
  /** What the actions are allowed on, such as `table`, `queue/runs` or `bucket/snapshots/*`. */
  readonly resources: readonly string[];
}

/** Readable names in place of ARNs: the rights are expanded by the same code that grants them in a deployment. */
const targets: Targets = {
  table: { tableArn: "table", tableName: "" },
  bucket: { arnForObjects: (pattern) => `bucket/${pattern}`, bucketArn: "bucket", bucketName: "" },
  live: { tableArn: "live-table", tableName: "" },
  runsQueue: { queueArn: "queue/runs", queueUrl: "" },
  endsQueue: { queueArn: "queue/ends", queueUrl: "" },
  eventsQueue: { queueArn: "queue/events", queueUrl: "" },
  deadRunsQueue: { queueArn: "queue/runs-dead", queueUrl: "" },
  sandbox: { functionArn: "function/run-sandbox", functionName: "" },
  sandboxes: { offered: [] },
  discovery: { functionArn: "function/discover-skills", functionName: "" },
  github: {
    apiUrl: "",
    token: { name: "", arn: "parameter/github-token" },
    app: {
      id: "",
      key: { name: "", arn: "parameter/github-app-key" },
      clientSecret: { name: "", arn: "parameter/github-app-client-secret" },
      webhookSecret: { name: "", arn: "parameter/github-app-webhook-secret" },
    },
  },
  models: { keys: [{ name: "", arn: "parameter/model-keys", variable: "" }], bedrock: [], environment: {} },
  secretsKey: { name: "", arn: "parameter/vault/secrets" },
  webhookSecretsKey: { name: "", arn: "parameter/vault/webhook-secrets" },
  secrets: { path: "", arns: "parameter/secrets/*" },
  webhookSecrets: { path: "", arns: "parameter/webhook-secrets/*" },
  systems: { functionArn: "function/call-systems", functionName: "" },
  identityKeys: { path: "", arns: "parameter/identity-keys/ring" },
  timers: {
    group: "",
    arns: "schedule-group/runyard/*",
    functionArn: "function/fire-schedule",
    role: { roleArn: "role/timers" },
  },
};

/** The routes in the order of infra/routes.ts. */
export function describeRoutes(): DescribedRoute[] {
  return routes.map((route) => ({
    method: route.method,
    path: route.path === "*" ? "*" : `/api/v1${route.path}`,
    file: `functions/${route.file}.ts`,
    callers: route.who === "public" ? ["public"] : route.who,
    scope: route.scope,
    keyOptional: route.keyOptional ?? false,
    rights: grant(route.rights, targets).statements.map(({ actions, resources }) => ({ actions, resources })),
  }));
}

/** A table with a line for each route and further lines for its further rights. */
export function formatRoutes(described: readonly DescribedRoute[]): string {
  const rows = described.flatMap(({ method, path, callers, scope, keyOptional, rights }) => {
    const [first = "none", ...more] = rights.map(formatRight);
    const who = [...callers, ...(keyOptional ? ["no key"] : [])].join(", ");
    return [[method, path, who, scope, first], ...more.map((right) => ["", "", "", "", right])];
  });
  return formatTable([["METHOD", "PATH", "CALLERS", "SCOPE", "RIGHTS"], ...rows]);
}

const formatRight = ({ actions, resources }: DescribedRight): string =>
  `${actions.join(", ")} on ${resources.join(", ")}`;

function formatTable(rows: readonly (readonly string[])[]): string {
  const [header = []] = rows;
  const widths = header.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { json: { type: "boolean", default: false } } });
  const described = describeRoutes();
  console.log(values.json ? JSON.stringify(described, undefined, 2) : formatRoutes(described));
}
