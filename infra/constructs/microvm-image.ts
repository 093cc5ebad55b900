import { Aws, CfnCondition, Fn, RemovalPolicy, Stack } from "aws-cdk-lib";
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { CfnMicrovmImage } from "aws-cdk-lib/aws-lambda";
import { LogGroup } from "aws-cdk-lib/aws-logs";
import type { Asset } from "aws-cdk-lib/aws-s3-assets";
import { Construct } from "constructs";
import { logRetention, toName, toPath } from "../names.ts";
import { ownLog } from "./own-log.ts";

/** Regions with Lambda MicroVMs: https://docs.aws.amazon.com/lambda/latest/dg/microvms.html; a setting adds those that came later. */
export const MICROVM_REGIONS = ["us-east-1", "us-east-2", "us-west-2", "ap-northeast-1", "eu-west-1"] as const;

/** Port on which the program in the VM receives the hooks; equals that of image/entry.ts. */
const HOOKS_PORT = 9000;
/** Baseline memory of a VM in MiB. It may use up to four times as much, which costs more for that time. */
const MEMORY_MIB = 2048;

export interface MicrovmImageProps {
  /** The directory of the Dockerfile, as it was uploaded. */
  readonly source: Asset;
  /** Additional regions with MicroVMs. */
  readonly regions: readonly string[];
  /** Version of AWS's own base image that the Dockerfile is built upon. */
  readonly baseVersion: string;
}

/**
 * The image that MicroVMs start from. Lambda creates it from the Dockerfile: a snapshot of a VM that runs the program of
 * image/entry.ts. It contains no secret, and its VMs have no role. A region without MicroVMs has no image.
 */
export class MicrovmImage extends Construct {
  readonly arn: string;
  /** The image's ARN; empty if the region has no MicroVMs. */
  readonly arnIfAny: string;

  constructor(scope: Construct, id: string, { source, regions, baseVersion }: MicrovmImageProps) {
    super(scope, id);
    const name = toName(this, "sandbox");
    this.arn = Stack.of(this).formatArn({ service: "lambda", resource: `microvm-image:${name}` });
    const hasMicrovms = new CfnCondition(this, "HasMicrovms", {
      expression: Fn.conditionOr(
        ...[...new Set([...MICROVM_REGIONS, ...regions])].map((region) => Fn.conditionEquals(Aws.REGION, region)),
      ),
    });
    this.arnIfAny = Fn.conditionIf(hasMicrovms.logicalId, this.arn, "").toString();
    const log = new LogGroup(this, "Log", {
      logGroupName: toPath(this, "builds/microvm-image"),
      retention: logRetention(this),
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const role = new Role(this, "BuildRole", {
      assumedBy: new ServicePrincipal("lambda.amazonaws.com"),
      description: toName(this, "build-microvm-image"),
      inlinePolicies: {
        rights: new PolicyDocument({
          statements: [
            ownLog(log),
            new PolicyStatement({
              actions: ["s3:GetObject"],
              resources: [source.bucket.arnForObjects(source.s3ObjectKey)],
            }),
          ],
        }),
      },
    });
    role.assumeRolePolicy?.addStatements(
      new PolicyStatement({ actions: ["sts:TagSession"], principals: [new ServicePrincipal("lambda.amazonaws.com")] }),
    );
    const image = new CfnMicrovmImage(this, "Image", {
      name,
      description: "Sandboxes of Runyard: Node 24, git, ripgrep, Python, build tools and the harness.",
      baseImageArn: `arn:${Aws.PARTITION}:lambda:${Aws.REGION}:aws:microvm-image:al2023-1`,
      baseImageVersion: baseVersion,
      buildRoleArn: role.roleArn,
      codeArtifact: { uri: source.s3ObjectUrl },
      cpuConfigurations: [{ architecture: "ARM_64" }],
      resources: [{ minimumMemoryInMiB: MEMORY_MIB }],
      additionalOsCapabilities: [],
      egressNetworkConnectors: [
        `arn:${Aws.PARTITION}:lambda:${Aws.REGION}:aws:network-connector:aws-network-connector:INTERNET_EGRESS`,
      ],
      environmentVariables: [],
      hooks: {
        port: HOOKS_PORT,
        microvmImageHooks: { ready: "ENABLED", readyTimeoutInSeconds: 120 },
        microvmHooks: { run: "ENABLED", runTimeoutInSeconds: 10 },
      },
      logging: { cloudWatch: { logGroup: log.logGroupName } },
    });
    image.cfnOptions.condition = hasMicrovms;
    image.node.addDependency(role);
  }
}
