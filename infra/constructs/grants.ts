import type { Table } from "aws-cdk-lib/aws-dynamodb";
import { type IRole, PolicyStatement } from "aws-cdk-lib/aws-iam";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import type { IBucket } from "aws-cdk-lib/aws-s3";
import type { IQueue } from "aws-cdk-lib/aws-sqs";
import { FILE_PATTERNS, type FileKind, type Rights } from "../rights.ts";
import { type Parameter, readingOf } from "./parameter.ts";
import { type Sandboxes, sandboxEnvironment, sandboxStatements } from "./sandbox-grants.ts";

/** What rights can be about. The queues and the sandbox exist only once the execution stack does. */
export interface Targets {
  readonly table: Pick<Table, "tableArn" | "tableName">;
  readonly bucket: IBucket;
  readonly runsQueue?: IQueue;
  readonly endsQueue?: IQueue;
  readonly reaperQueue?: IQueue;
  readonly sandbox?: IFunction;
  /** Sandboxes that are no functions. */
  readonly sandboxes?: Sandboxes;
  readonly discovery?: IFunction;
  readonly github?: GithubParameters;
  readonly timers?: Timers;
  readonly secrets?: Secrets;
  readonly models?: Models;
}

/** What this deployment has to show at GitHub. */
export interface GithubParameters {
  /** Address of GitHub's REST API, without a slash at its end. */
  readonly apiUrl: string;
  /** The parameter that holds its token, which need not be there. */
  readonly token: Parameter;
  /** Its GitHub App, with the parameter that holds the private key of that. @default it has none */
  readonly app?: { readonly id: string; readonly key: Parameter };
}

/** The providers of models. */
export interface Models {
  /** The parameters that hold the keys for them, and the variables that name them to the function. */
  readonly keys: readonly (Parameter & { readonly variable: string })[];
  /** Models of Bedrock that may be called. */
  readonly bedrock: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

/** Where the values of secrets are. */
export interface Secrets {
  /** What the names of all their parameters begin with. */
  readonly path: string;
  /** All parameters below it. */
  readonly arns: string;
}

/** What timers of schedules are made of. */
export interface Timers {
  /** Name of the schedule group that all of them are in. */
  readonly group: string;
  /** All schedules of that group. */
  readonly arns: string;
  /** Where a timer sends to when it goes off. */
  readonly queue: IQueue;
  /** By which it does so. */
  readonly role: IRole;
}

/** The policy statements that rights come to, and the environment by which the function finds what it has rights on. */
export interface Grant {
  readonly statements: PolicyStatement[];
  readonly environment: Record<string, string>;
}

/** Turns rights into exactly their actions on exactly their resources: no wildcard, no action that was not named. */
export function grant(rights: Rights, targets: Targets): Grant {
  const statements: PolicyStatement[] = [];
  const environment: Record<string, string> = {};
  const allow = (service: string, actions: readonly string[], resources: string[]) =>
    statements.push(new PolicyStatement({ actions: actions.map((action) => `${service}:${action}`), resources }));

  if (rights.table?.length) {
    const indexes = rights.indexes ?? [];
    allow("dynamodb", rights.table, [targets.table.tableArn]);
    if (indexes.length > 0) {
      allow(
        "dynamodb",
        ["Query"],
        indexes.map((index) => `${targets.table.tableArn}/index/${index}`),
      );
    }
    environment["TABLE_NAME"] = targets.table.tableName;
  }
  if (rights.bucket !== undefined) {
    const { GetObject: read = [], PutObject: written = [] } = rights.bucket;
    const arns = (kinds: readonly FileKind[]) => kinds.map((kind) => targets.bucket.arnForObjects(FILE_PATTERNS[kind]));
    if (read.length > 0) allow("s3", ["GetObject"], arns(read));
    if (written.length > 0) allow("s3", ["PutObject"], arns(written));
    environment["BUCKET_NAME"] = targets.bucket.bucketName;
    environment["SIGNED_URL_SECONDS"] = "900";
  }
  for (const [right, variable] of queueVariables) {
    const actions = rights[right];
    if (!actions?.length) continue;
    const queue = present(targets[right], right);
    allow("sqs", actions, [queue.queueArn]);
    environment[variable] = queue.queueUrl;
  }
  if (rights.sandbox?.length) {
    const sandbox = present(targets.sandbox, "sandbox");
    allow("lambda", rights.sandbox, [sandbox.functionArn]);
    environment["SANDBOX_FUNCTION_NAME"] = sandbox.functionName;
  }
  if (rights.sandboxes?.length) {
    const sandboxes = present(targets.sandboxes, "sandboxes");
    statements.push(...sandboxStatements(rights.sandboxes, sandboxes));
    Object.assign(environment, sandboxEnvironment(rights.sandboxes, sandboxes));
  }
  if (rights.discovery?.length) {
    const discovery = present(targets.discovery, "discovery");
    allow("lambda", rights.discovery, [discovery.functionArn]);
    environment["DISCOVERY_FUNCTION_NAME"] = discovery.functionName;
  }
  if (rights.github?.length) {
    const { token, app } = present(targets.github, "github");
    statements.push(...readingOf(app === undefined ? [token] : [token, app.key]));
    environment["GITHUB_TOKEN_PARAMETER"] = token.name;
    if (app !== undefined) {
      environment["GITHUB_APP_ID"] = app.id;
      environment["GITHUB_APP_KEY_PARAMETER"] = app.key.name;
    }
  }
  if (rights.githubApp?.length) {
    const { apiUrl, app } = present(targets.github, "github");
    environment["GITHUB_API_URL"] = apiUrl;
    if (app !== undefined) {
      statements.push(...readingOf([app.key]));
      environment["GITHUB_APP_ID"] = app.id;
      environment["GITHUB_APP_KEY_PARAMETER"] = app.key.name;
    }
  }
  if (rights.secrets?.length) {
    const secrets = present(targets.secrets, "secrets");
    allow("ssm", rights.secrets, [secrets.arns]);
    environment["SECRETS_PATH"] = secrets.path;
  }
  if (rights.models?.length) {
    const { keys, bedrock, environment: others } = present(targets.models, "models");
    statements.push(...readingOf(keys));
    if (bedrock.length > 0) allow("bedrock", ["InvokeModel", "InvokeModelWithResponseStream"], [...bedrock]);
    for (const { variable, name } of keys) environment[variable] = name;
    Object.assign(environment, others);
  }
  if (rights.timers?.length) {
    const timers = present(targets.timers, "timers");
    allow("scheduler", rights.timers, [timers.arns]);
    if (rights.timers.some((action) => action !== "DeleteSchedule")) statements.push(passOn(timers.role));
    environment["SCHEDULE_GROUP"] = timers.group;
    environment["TICKS_QUEUE_ARN"] = timers.queue.queueArn;
    environment["SCHEDULER_ROLE_ARN"] = timers.role.roleArn;
  }
  return { statements, environment };
}

/** Whoever sets a timer hands it its role, and hands it to nobody else. */
function passOn(role: IRole): PolicyStatement {
  return new PolicyStatement({
    actions: ["iam:PassRole"],
    resources: [role.roleArn],
    conditions: { StringEquals: { "iam:PassedToService": "scheduler.amazonaws.com" } },
  });
}

const queueVariables = [
  ["runsQueue", "RUNS_QUEUE_URL"],
  ["endsQueue", "ENDS_QUEUE_URL"],
  ["reaperQueue", "REAPER_QUEUE_URL"],
] as const;

function present<T>(target: T | undefined, right: string): T {
  if (target === undefined) throw new Error(`a function has a right on ${right}, which its stack does not know`);
  return target;
}
