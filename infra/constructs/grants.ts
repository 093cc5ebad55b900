import type { Table } from "aws-cdk-lib/aws-dynamodb";
import { type IRole, PolicyStatement } from "aws-cdk-lib/aws-iam";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import type { IBucket } from "aws-cdk-lib/aws-s3";
import type { IQueue } from "aws-cdk-lib/aws-sqs";
import { FILE_PATTERNS, type FileKind, type Rights } from "../rights.ts";
import { type Parameter, readStatements } from "./parameter.ts";
import { type Sandboxes, sandboxEnvironment, sandboxStatements } from "./sandbox-grants.ts";
import { type VaultKeys, vaultKeyEnvironment, vaultKeyStatements } from "./vault-grants.ts";

/** What rights can be granted on. The queues and the sandbox exist only once the execution stack does. */
export interface Targets {
  readonly table: Pick<Table, "tableArn" | "tableName">;
  readonly bucket: Pick<IBucket, "arnForObjects" | "bucketArn" | "bucketName">;
  /** The table of live output. */
  readonly live?: Pick<Table, "tableArn" | "tableName">;
  readonly runsQueue?: QueueTarget;
  readonly endsQueue?: QueueTarget;
  readonly eventsQueue?: QueueTarget;
  readonly deadRunsQueue?: QueueTarget;
  readonly sandbox?: SandboxTarget;
  /** Kinds of sandboxes other than Lambda functions. */
  readonly sandboxes?: Sandboxes;
  readonly discovery?: FunctionTarget;
  readonly github?: GithubParameters;
  readonly timers?: Timers;
  /** The keys of the vault. */
  readonly secretsKey?: VaultKeys;
  readonly webhookSecretsKey?: VaultKeys;
  /** The values of secrets that an earlier release stored. */
  readonly secrets?: ParameterPath;
  /** The signing secrets of webhooks that an earlier release stored. */
  readonly webhookSecrets?: ParameterPath;
  /** The keys that sign the identity tokens of runs. */
  readonly identityKeys?: ParameterPath;
  /** The function that attempts deliveries, and the one that sends their requests. */
  readonly webhookAttempts?: FunctionTarget;
  readonly webhookSender?: FunctionTarget;
  /** The function that calls the APIs of other systems. */
  readonly systems?: FunctionTarget;
  readonly models?: Models;
  readonly workerSockets?: WorkerSocketTarget;
  /** The parameters that hold the client's secret for the OIDC issuer: one, or none. */
  readonly signInSecrets?: readonly Parameter[];
  /** The collector of traces. @default none */
  readonly tracing?: TracingTarget | undefined;
}

/** A collector of traces, with the parameter that holds the headers of its requests. */
export interface TracingTarget {
  readonly endpoint: string;
  readonly headers?: Parameter;
}

/** The WebSocket API of self-hosted workers. */
export interface WorkerSocketTarget {
  /** Its management endpoint; on an emulator, the path of the endpoint. */
  readonly endpoint: string;
  /** The ARNs of its connections, for the methods that send to a connection and close it. */
  readonly arns: readonly string[];
}

type QueueTarget = Pick<IQueue, "queueArn" | "queueUrl">;
type FunctionTarget = Pick<IFunction, "functionArn" | "functionName">;
/** The sandbox function, and the environment variables that its callers need. */
export type SandboxTarget = FunctionTarget & { readonly variables?: Readonly<Record<string, string>> };

/** The credentials of this deployment for GitHub. */
export interface GithubParameters {
  /** Address of GitHub's REST API, without a trailing slash. */
  readonly apiUrl: string;
  /** The parameter that holds its token, if it exists. */
  readonly token: Parameter;
  /** Its GitHub App, and the parameters that hold its private key, its client secret and the secret of its webhook. @default none */
  readonly app?: {
    readonly id: string;
    readonly key: Parameter;
    readonly clientSecret: Parameter;
    readonly webhookSecret: Parameter;
  };
}

/** The providers of models. */
export interface Models {
  /** The parameters that hold their API keys, and the environment variables that name these parameters, unless `environment` does. */
  readonly keys: readonly (Parameter & { readonly variable?: string })[];
  /** Models of Bedrock that may be called. */
  readonly bedrock: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

/** Parameters below one path. */
export interface ParameterPath {
  /** Prefix of the names of all their parameters. */
  readonly path: string;
  /** All parameters below it. */
  readonly arns: string;
}

/** The resources that timers of schedules need. */
export interface Timers {
  /** Name of their schedule group. */
  readonly group: string;
  /** All schedules of that group. */
  readonly arns: string;
  /** The function that a timer invokes when it fires. */
  readonly functionArn: string;
  /** The role with which it does so. */
  readonly role: Pick<IRole, "roleArn">;
}

/** The policy statements of rights, and the variables by which the function finds the resources. */
export interface Grant {
  readonly statements: PolicyStatement[];
  readonly environment: Readonly<Record<string, string>>;
}

/** Turns rights into exactly their actions on exactly their resources: no wildcards, no additional actions. */
export function grant(rights: Rights, targets: Targets): Grant {
  const grants = grantSteps.map((grantStep) => grantStep(rights, targets));
  return {
    statements: grants.flatMap(({ statements }) => statements),
    environment: Object.assign({}, ...grants.map(({ environment }) => environment)),
  };
}

type GrantStep = (rights: Rights, targets: Targets) => Grant;

const nothing: Grant = { statements: [], environment: {} };

const grantTable: GrantStep = ({ table: actions = [], indexes = [] }, { table }) => {
  if (actions.length === 0) return nothing;
  const indexArns = indexes.map((index) => `${table.tableArn}/index/${index}`);
  return {
    statements: [
      allow("dynamodb", actions, [table.tableArn]),
      ...(indexArns.length > 0 ? [allow("dynamodb", ["Query"], indexArns)] : []),
    ],
    environment: { TABLE_NAME: table.tableName },
  };
};

const grantLive: GrantStep = ({ live: actions }, { live }) => {
  if (!actions?.length) return nothing;
  const { tableArn, tableName } = requireTarget(live, "live");
  return { statements: [allow("dynamodb", actions, [tableArn])], environment: { LIVE_TABLE_NAME: tableName } };
};

/** The attributes that the update may name: the key, the written attribute, and the condition's attribute. */
const WATCH_ATTRIBUTES = ["pk", "sk", "watched_at", "state"];

const grantWatch: GrantStep = ({ watch: actions }, { table }) => {
  if (!actions?.length) return nothing;
  const conditions = {
    "ForAllValues:StringEquals": { "dynamodb:Attributes": WATCH_ATTRIBUTES },
    // Other return values would show the whole item.
    StringEqualsIfExists: { "dynamodb:ReturnValues": ["NONE", "UPDATED_OLD", "UPDATED_NEW"] },
  };
  return { statements: [allow("dynamodb", actions, [table.tableArn], conditions)], environment: {} };
};

const grantRefusals: GrantStep = ({ refusals: actions }, { table }) => {
  if (!actions?.length) return nothing;
  return { statements: [allow("dynamodb", actions, [table.tableArn], inPartitions("AUDIT#"))], environment: {} };
};

const grantBucket: GrantStep = ({ bucket: rights }, { bucket }) => {
  if (rights === undefined) return nothing;
  const { GetObject: read = [], PutObject: written = [], DeleteObject: deleted = [], ListBucket: listed = [] } = rights;
  const arns = (kinds: readonly FileKind[]) => kinds.map((kind) => bucket.arnForObjects(FILE_PATTERNS[kind]));
  return {
    statements: [
      ...(read.length > 0 ? [allow("s3", ["GetObject"], arns(read))] : []),
      ...(written.length > 0 ? [allow("s3", ["PutObject"], arns(written))] : []),
      ...(deleted.length > 0 ? [allow("s3", ["DeleteObject"], arns(deleted))] : []),
      ...(listed.length > 0 ? [allowListing(bucket.bucketArn, listed)] : []),
    ],
    environment: { BUCKET_NAME: bucket.bucketName, SIGNED_URL_SECONDS: "900" },
  };
};

/** Without a condition, the right would include all keys of the bucket. */
const allowListing = (bucketArn: string, prefixes: readonly string[]): PolicyStatement =>
  allow("s3", ["ListBucket"], [bucketArn], { StringLike: { "s3:prefix": prefixes } });

const grantQueue =
  (right: "runsQueue" | "endsQueue" | "eventsQueue" | "deadRunsQueue", variable: string): GrantStep =>
  (rights, targets) => {
    const actions = rights[right];
    if (!actions?.length) return nothing;
    const queue = requireTarget(targets[right], right);
    return { statements: [allow("sqs", actions, [queue.queueArn])], environment: { [variable]: queue.queueUrl } };
  };

const grantFunction =
  (right: "sandbox" | "discovery" | "webhookAttempts" | "webhookSender" | "systems", variable: string): GrantStep =>
  (rights, targets) => {
    const actions = rights[right];
    if (!actions?.length) return nothing;
    const target: SandboxTarget = requireTarget(targets[right], right);
    return {
      statements: [allow("lambda", actions, [target.functionArn])],
      environment: { [variable]: target.functionName, ...target.variables },
    };
  };

const grantSandboxes: GrantStep = ({ sandboxes: rights }, targets) => {
  if (!rights?.length) return nothing;
  const sandboxes = requireTarget(targets.sandboxes, "sandboxes");
  return { statements: sandboxStatements(rights, sandboxes), environment: sandboxEnvironment(rights, sandboxes) };
};

const grantGithub: GrantStep = ({ github: actions }, targets) => {
  if (!actions?.length) return nothing;
  const { token, app } = requireTarget(targets.github, "github");
  return {
    statements: readStatements(app === undefined ? [token] : [token, app.key]),
    environment: { GITHUB_TOKEN_PARAMETER: token.name, ...appVariables(app) },
  };
};

const grantGithubApp: GrantStep = ({ githubApp: actions }, targets) => {
  if (!actions?.length) return nothing;
  const { apiUrl, app } = requireTarget(targets.github, "github");
  return {
    statements: readStatements(app === undefined ? [] : [app.key]),
    environment: { GITHUB_API_URL: apiUrl, ...appVariables(app) },
  };
};

const grantGithubAppClient: GrantStep = ({ githubAppClient: actions }, targets) => {
  if (!actions?.length) return nothing;
  const { apiUrl, app } = requireTarget(targets.github, "github");
  if (app === undefined) return nothing;
  const secret = { GITHUB_APP_CLIENT_SECRET_PARAMETER: app.clientSecret.name };
  return {
    statements: readStatements([app.key, app.clientSecret]),
    environment: { GITHUB_API_URL: apiUrl, ...appVariables(app), ...secret },
  };
};

const grantGithubAppWebhook: GrantStep = ({ githubAppWebhook: actions }, targets) => {
  if (!actions?.length) return nothing;
  const { webhookSecret } = requireTarget(targets.github, "github").app ?? {};
  if (webhookSecret === undefined) return nothing;
  const environment = { GITHUB_APP_WEBHOOK_SECRET_PARAMETER: webhookSecret.name };
  return { statements: readStatements([webhookSecret]), environment };
};

const grantParameterPath =
  (right: "secrets" | "webhookSecrets" | "identityKeys", variable: string): GrantStep =>
  (rights, targets) => {
    const actions = rights[right];
    if (!actions?.length) return nothing;
    const secrets = requireTarget(targets[right], right);
    return { statements: [allow("ssm", actions, [secrets.arns])], environment: { [variable]: secrets.path } };
  };

const grantVaultKey =
  (right: "secretsKey" | "webhookSecretsKey", variable: string): GrantStep =>
  (rights, targets) => {
    const actions = rights[right];
    if (!actions?.length) return nothing;
    const keys = requireTarget(targets[right], right);
    return { statements: vaultKeyStatements(actions, keys), environment: vaultKeyEnvironment(actions, keys, variable) };
  };

const grantVault: GrantStep = ({ vault: actions }, { table }) => {
  if (!actions?.length) return nothing;
  return {
    statements: [allow("dynamodb", actions, [table.tableArn], inPartitions("VAULT#"))],
    environment: { TABLE_NAME: table.tableName },
  };
};

const grantModels: GrantStep = ({ models: actions }, targets) => {
  if (!actions?.length) return nothing;
  const { keys, bedrock, environment } = requireTarget(targets.models, "models");
  return {
    statements: [
      ...readStatements(keys),
      ...(bedrock.length > 0 ? [allow("bedrock", ["InvokeModel", "InvokeModelWithResponseStream"], bedrock)] : []),
    ],
    environment: {
      ...Object.fromEntries(keys.flatMap(({ variable, name }) => (variable === undefined ? [] : [[variable, name]]))),
      ...environment,
    },
  };
};

const grantTimers: GrantStep = ({ timers: actions }, targets) => {
  if (!actions?.length) return nothing;
  const { arns, group, functionArn, role } = requireTarget(targets.timers, "timers");
  const sets = actions.some((action) => action !== "DeleteSchedule");
  return {
    statements: [allow("scheduler", actions, [arns]), ...(sets ? [passRole(role)] : [])],
    environment: {
      SCHEDULE_GROUP: group,
      FIRE_SCHEDULE_ARN: functionArn,
      SCHEDULER_ROLE_ARN: role.roleArn,
    },
  };
};

const grantWorkerSockets: GrantStep = ({ workerSockets: actions }, targets) => {
  if (!actions?.length) return nothing;
  const { arns, endpoint } = requireTarget(targets.workerSockets, "workerSockets");
  return {
    statements: [allow("execute-api", actions, arns)],
    environment: { WORKER_SOCKET_ENDPOINT: endpoint },
  };
};

const grantSignInIssuer: GrantStep = ({ signInIssuer: actions }, targets) => {
  if (!actions?.length) return nothing;
  const { signInSecrets: secrets = [] } = targets;
  const [secret] = secrets;
  return {
    statements: readStatements(secrets),
    environment: secret === undefined ? {} : { OIDC_SECRET_PARAMETER: secret.name },
  };
};

const grantTracing: GrantStep = ({ tracing: actions }, { tracing }) => {
  if (!actions?.length || tracing === undefined) return nothing;
  const { endpoint, headers } = tracing;
  return {
    statements: headers === undefined ? [] : readStatements([headers]),
    environment: {
      OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
      ...(headers !== undefined && { OTLP_HEADERS_PARAMETER: headers.name }),
    },
  };
};

/** The function that grants each kind of right. */
const grantSteps: readonly GrantStep[] = [
  grantTable,
  grantLive,
  grantWatch,
  grantRefusals,
  grantBucket,
  grantQueue("runsQueue", "RUNS_QUEUE_URL"),
  grantQueue("endsQueue", "ENDS_QUEUE_URL"),
  grantQueue("eventsQueue", "EVENTS_QUEUE_URL"),
  grantQueue("deadRunsQueue", "DEAD_RUNS_QUEUE_URL"),
  grantFunction("sandbox", "SANDBOX_FUNCTION_NAME"),
  grantSandboxes,
  grantFunction("discovery", "DISCOVERY_FUNCTION_NAME"),
  grantGithub,
  grantGithubApp,
  grantGithubAppClient,
  grantGithubAppWebhook,
  grantVault,
  grantVaultKey("secretsKey", "SECRETS_KEY"),
  grantVaultKey("webhookSecretsKey", "WEBHOOK_SECRETS_KEY"),
  grantParameterPath("secrets", "SECRETS_PATH"),
  grantParameterPath("webhookSecrets", "WEBHOOK_SECRETS_PATH"),
  grantParameterPath("identityKeys", "IDENTITY_KEYS_PATH"),
  grantFunction("webhookAttempts", "WEBHOOK_ATTEMPTS_FUNCTION_NAME"),
  grantFunction("webhookSender", "SEND_WEBHOOKS_FUNCTION_NAME"),
  grantFunction("systems", "CALL_SYSTEMS_FUNCTION_NAME"),
  grantModels,
  grantTimers,
  grantWorkerSockets,
  grantSignInIssuer,
  grantTracing,
];

function allow(
  service: string,
  actions: readonly string[],
  resources: readonly string[],
  conditions: Readonly<Record<string, unknown>> = {},
): PolicyStatement {
  return new PolicyStatement({
    actions: actions.map((action) => `${service}:${action}`),
    resources: [...resources],
    conditions,
  });
}

/** Limits a right on the table to items whose partition keys begin with `prefix`. */
const inPartitions = (prefix: string) => ({
  "ForAllValues:StringLike": { "dynamodb:LeadingKeys": [`${prefix}*`] },
});

/** A function that sets a timer passes it this role, and may pass it to the scheduler only. */
const passRole = (role: Timers["role"]): PolicyStatement =>
  allow("iam", ["PassRole"], [role.roleArn], { StringEquals: { "iam:PassedToService": "scheduler.amazonaws.com" } });

function appVariables(app: GithubParameters["app"]): Record<string, string> {
  return app === undefined ? {} : { GITHUB_APP_ID: app.id, GITHUB_APP_KEY_PARAMETER: app.key.name };
}

function requireTarget<T>(target: T | undefined, right: string): T {
  if (target === undefined) throw new Error(`a function has a right on ${right}, which its stack does not know`);
  return target;
}
