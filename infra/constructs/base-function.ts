import { Duration, RemovalPolicy, Size } from "aws-cdk-lib";
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import {
  Architecture,
  Code,
  Handler,
  Function as LambdaFunction,
  LoggingFormat,
  RecursiveLoop,
  Runtime,
  SystemLogLevel,
  type TenancyConfig,
  Tracing,
} from "aws-cdk-lib/aws-lambda";
import { LogGroup } from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import type { Platform } from "#infra/platform.ts";
import type { Rights } from "#infra/rights.ts";
import { logRetention, toName, toPath } from "../names.ts";
import { grant, type Targets } from "./grants.ts";
import { ownLog } from "./own-log.ts";
import type { SandboxImage } from "./sandbox-image.ts";

export interface BaseFunctionProps {
  readonly platform: Platform;
  /** File in functions/ without its ending; its bundle is the function's code. */
  readonly file: string;
  /** The resources that the rights are granted on. */
  readonly targets: Targets;
  /** The permissions of the function's role, which may otherwise only write its own log and traces. */
  readonly rights: Rights;
  /** Function's name after `runyard-`. @default the file's verb-noun */
  readonly name?: string;
  /** Seconds that one invocation may take. @default 10 */
  readonly timeoutSeconds?: number;
  /**
   * Megabytes, which also buy processor time. A function here waits for DynamoDB and starts up; at 512 MB its start is
   * about three times as fast as at 128, at nearly the same price, and more memory hardly helps. @default 512
   */
  readonly memoryMb?: number;
  /** Reserved concurrency, which is also the function's maximum. @default none */
  readonly reserved?: number;
  /** Environment variables in addition to those of the rights. @default none */
  readonly environment?: Record<string, string>;
  /** Policy statements in addition to the rights, such as reading the queue that invokes the function. @default none */
  readonly statements?: PolicyStatement[];
  /** Scratch disk in MiB. @default 512, which is free */
  readonly diskMib?: number;
  /** Whether the function sends traces, which requires a separate right. @default true */
  readonly traced?: boolean;
  /** Whether Lambda omits its log lines about successful invocations. @default false */
  readonly quiet?: boolean;
  /** An image that is the function's code, instead of the bundle. @default the bundle, on the runtime of Node 24 */
  readonly image?: SandboxImage | undefined;
  /** The export of the bundle that handles invocations; the program of an image gets its name as an argument. @default "handler" */
  readonly handler?: string;
  /** True if the function may be part of a loop of invocations, which Lambda stops after 16 rounds otherwise. @default false */
  readonly recursive?: boolean;
  /** Whether each tenant gets separate execution environments. @default shared ones */
  readonly tenancy?: TenancyConfig;
}

/**
 * The base of all Lambda functions: Node 24 on arm64, a log with limited retention, and a role with exactly its rights.
 */
export class BaseFunction extends Construct {
  readonly lambda: LambdaFunction;
  readonly log: LogGroup;

  constructor(scope: Construct, id: string, props: BaseFunctionProps) {
    super(scope, id);
    const { platform } = props;
    const name = props.name ?? verbNoun(props.file);
    const traced = props.traced ?? true;
    const granted = grant(props.rights, props.targets);

    this.log = new LogGroup(this, "Log", {
      logGroupName: toPath(this, `functions/${name}`),
      retention: logRetention(this),
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const role = new Role(this, "Role", {
      assumedBy: new ServicePrincipal("lambda.amazonaws.com"),
      description: toName(this, name),
      inlinePolicies: {
        rights: new PolicyDocument({
          statements: [
            ownLog(this.log),
            ...(traced ? [ownTraces()] : []),
            ...granted.statements,
            ...(props.statements ?? []),
          ],
        }),
      },
    });
    this.lambda = new LambdaFunction(this, "Function", {
      functionName: toName(this, name),
      architecture: Architecture.ARM_64,
      ...(props.image === undefined
        ? {
            runtime: Runtime.NODEJS_24_X,
            handler: `index.${props.handler ?? "handler"}`,
            code: Code.fromAsset(platform.bundle.assetDir(props.file), { exclude: ["*.map"] }),
          }
        : {
            runtime: Runtime.FROM_IMAGE,
            handler: Handler.FROM_IMAGE,
            code: Code.fromEcrImage(props.image.repository, {
              tagOrDigest: props.image.tag,
              ...(props.handler !== undefined && { cmd: [props.handler] }),
            }),
          }),
      // The role is complete: CDK must not add anything to it.
      role: role.withoutPolicyUpdates(),
      logGroup: this.log,
      loggingFormat: LoggingFormat.JSON,
      ...(props.quiet === true && { systemLogLevelV2: SystemLogLevel.WARN }),
      tracing: traced ? Tracing.ACTIVE : Tracing.DISABLED,
      timeout: Duration.seconds(props.timeoutSeconds ?? 10),
      memorySize: props.memoryMb ?? 512,
      environment: { ...granted.environment, ...props.environment },
      ...(props.reserved !== undefined && { reservedConcurrentExecutions: props.reserved }),
      ...(props.diskMib !== undefined && { ephemeralStorageSize: Size.mebibytes(props.diskMib) }),
      ...(props.recursive === true && { recursiveLoop: RecursiveLoop.ALLOW }),
      ...(props.tenancy !== undefined && { tenancyConfig: props.tenancy }),
    });
    if (props.image !== undefined) this.lambda.node.addDependency(props.image.built);
  }
}

/** The verb-noun of a file in functions/, which names its function. */
export function verbNoun(file: string): string {
  return file.slice(file.lastIndexOf("/") + 1);
}

/** X-Ray has no resource-level permissions: its two writing actions can only be granted on all resources. */
function ownTraces(): PolicyStatement {
  return new PolicyStatement({
    actions: ["xray:PutTraceSegments", "xray:PutTelemetryRecords"],
    resources: ["*"],
  });
}
