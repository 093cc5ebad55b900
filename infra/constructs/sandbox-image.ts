import { CfnResource, Duration, RemovalPolicy, Stack } from "aws-cdk-lib";
import { BuildSpec, ComputeType, LinuxArmBuildImage, Project, Source } from "aws-cdk-lib/aws-codebuild";
import { Repository, TagMutability } from "aws-cdk-lib/aws-ecr";
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import {
  Architecture,
  Code,
  Function as LambdaFunction,
  LoggingFormat,
  Runtime,
  Tracing,
} from "aws-cdk-lib/aws-lambda";
import { LogGroup } from "aws-cdk-lib/aws-logs";
import type { Asset } from "aws-cdk-lib/aws-s3-assets";
import { Construct } from "constructs";
import { logRetention, toName } from "../names.ts";
import { ownLog } from "./own-log.ts";

export interface SandboxImageProps {
  /** The directory of the Dockerfile, as it was uploaded. */
  readonly source: Asset;
}

/** Time limit of a build in minutes. A build takes about five. */
const BUILD_MINUTES = 30;

/**
 * The image of the sandboxes. CodeBuild builds it during the deployment and pushes it to an ECR repository, so that the machine
 * that deploys needs no Docker. The immutable tag is derived from the image's sources; an image that exists is not built again.
 */
export class SandboxImage extends Construct {
  readonly repository: Repository;
  readonly tag: string;
  /** A resource that exists once the image does. */
  readonly built: CfnResource;
  readonly #buildLog: LogGroup;

  constructor(scope: Construct, id: string, { source }: SandboxImageProps) {
    super(scope, id);
    this.tag = source.assetHash.slice(0, 32);
    this.repository = new Repository(this, "Repository", {
      repositoryName: toName(this, "sandbox"),
      imageTagMutability: TagMutability.IMMUTABLE,
      imageScanOnPush: true,
      // An image can be built again at any time.
      removalPolicy: RemovalPolicy.DESTROY,
      emptyOnDelete: true,
      lifecycleRules: [{ description: "the latest images", maxImageCount: 2 }],
    });
    this.#buildLog = this.#log("Log");
    const project = this.#project(source);
    const starter = this.#starter(project);
    this.built = new CfnResource(this, "Built", {
      type: "AWS::CloudFormation::CustomResource",
      properties: {
        ServiceToken: starter.functionArn,
        ServiceTimeout: (BUILD_MINUTES + 10) * 60,
        Tag: this.tag,
      },
    });
  }

  /** A log that a rollback keeps, since it contains the reason. It has no fixed name, which would be taken at the next attempt. */
  #log(id: string): LogGroup {
    return new LogGroup(this, id, { retention: logRetention(this), removalPolicy: RemovalPolicy.RETAIN });
  }

  #project(source: Asset): Project {
    const log = this.#buildLog;
    const role = new Role(this, "BuildRole", {
      assumedBy: new ServicePrincipal("codebuild.amazonaws.com"),
      description: toName(this, "build-sandbox-image"),
      inlinePolicies: {
        rights: new PolicyDocument({
          statements: [
            ownLog(log),
            allow(["s3:GetObject", "s3:GetObjectVersion"], source.bucket.arnForObjects(source.s3ObjectKey)),
            allow(["s3:GetBucketLocation", "s3:ListBucket"], source.bucket.bucketArn),
            allow(PUSH, this.repository.repositoryArn),
            // These actions take no resource. The token of the private registry can do what the statement above allows, and that of
            // the public registry raises the limit on pulls.
            allow(["ecr:GetAuthorizationToken", "ecr-public:GetAuthorizationToken", "sts:GetServiceBearerToken"], "*"),
          ],
        }),
      },
    });
    return new Project(this, "Build", {
      projectName: toName(this, "sandbox-image"),
      description: "Builds the image of Runyard's sandboxes.",
      role: role.withoutPolicyUpdates(),
      source: Source.s3({ bucket: source.bucket, path: source.s3ObjectKey }),
      environment: {
        buildImage: LinuxArmBuildImage.AMAZON_LINUX_2023_STANDARD_3_0,
        computeType: ComputeType.SMALL,
        // Docker runs in the build's own VM, which ends with the build.
        privileged: true,
        environmentVariables: {
          REGISTRY: { value: this.repository.repositoryUri.split("/")[0] ?? "" },
          REPOSITORY: { value: this.repository.repositoryName },
          IMAGE: { value: this.repository.repositoryUriForTag(this.tag) },
          TAG: { value: this.tag },
        },
      },
      logging: { cloudWatch: { logGroup: log } },
      timeout: Duration.minutes(BUILD_MINUTES),
      buildSpec: BuildSpec.fromObject({
        version: "0.2",
        phases: { build: { commands: BUILD }, post_build: { commands: REPORT } },
      }),
    });
  }

  /** The function that starts a build for CloudFormation. The build itself sends the response at its end. */
  #starter(project: Project): LambdaFunction {
    const log = this.#log("StarterLog");
    const role = new Role(this, "StarterRole", {
      assumedBy: new ServicePrincipal("lambda.amazonaws.com"),
      description: toName(this, "build-sandbox-image"),
      inlinePolicies: {
        rights: new PolicyDocument({
          statements: [ownLog(log), allow(["codebuild:StartBuild"], project.projectArn)],
        }),
      },
    });
    return new LambdaFunction(this, "Starter", {
      functionName: toName(this, "build-sandbox-image"),
      description: `Starts the build of the sandboxes' image while ${Stack.of(this).stackName} is deployed.`,
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      handler: "index.handler",
      code: Code.fromInline(STARTER),
      role: role.withoutPolicyUpdates(),
      logGroup: log,
      loggingFormat: LoggingFormat.JSON,
      tracing: Tracing.DISABLED,
      timeout: Duration.seconds(30),
      environment: { PROJECT: project.projectName, LOG: this.#buildLog.logGroupName },
    });
  }
}

const allow = (actions: readonly string[], resource: string) =>
  new PolicyStatement({ actions: [...actions], resources: [resource] });

const PUSH = [
  "ecr:BatchCheckLayerAvailability",
  "ecr:BatchGetImage",
  "ecr:CompleteLayerUpload",
  "ecr:DescribeImages",
  "ecr:InitiateLayerUpload",
  "ecr:PutImage",
  "ecr:UploadLayerPart",
];

/** Retries a command that depends on registries, and skips it if the image exists. */
const retry = (command: string) =>
  `[ -f /tmp/there ] || (for try in 1 2 3; do ${command} && exit 0; sleep $((try * 20)); done; exit 1)`;

const BUILD = [
  "echo SUCCESS > /tmp/there && aws ecr describe-images --repository-name $REPOSITORY --image-ids imageTag=$TAG > /dev/null 2>&1 || rm /tmp/there",
  '[ -f /tmp/there ] || aws ecr get-login-password | docker login --username AWS --password-stdin "$REGISTRY"',
  // Without this login pulls are anonymous, and share their limit with everyone behind the same address.
  "[ -f /tmp/there ] || aws ecr-public get-login-password --region us-east-1 | docker login --username AWS --password-stdin public.ecr.aws || echo 'pulls from public.ecr.aws are anonymous'",
  retry('docker build --platform linux/arm64 --provenance=false --tag "$IMAGE" .'),
  retry('docker push "$IMAGE"'),
];

/** Also reports a failed build. CloudFormation accepts the response at a signed URL, whose signature has no content type. */
const REPORT = [
  '[ "$CODEBUILD_BUILD_SUCCEEDING" = 1 ] && STATUS=SUCCESS || STATUS=FAILED',
  `printf '%s' "$RESPONSE" | sed "s/STATUS_OF_BUILD/$STATUS/" > /tmp/response.json`,
  "curl --fail --silent --show-error --retry 5 --request PUT --header 'Content-Type:' --data-binary @/tmp/response.json \"$RESPONSE_URL\"",
];

/** A deletion is confirmed at once, since the images are deleted with their repository. */
export const STARTER = `const { CodeBuildClient, StartBuildCommand } = require("@aws-sdk/client-codebuild");
exports.handler = async (event) => {
  const toResponse = (Status, Reason = "the build of the sandbox image failed: see the log group " + process.env.LOG) => JSON.stringify({
    Status,
    Reason,
    PhysicalResourceId: "runyard-sandbox-image",
    StackId: event.StackId,
    RequestId: event.RequestId,
    LogicalResourceId: event.LogicalResourceId,
  });
  const report = (Status, Reason) =>
    fetch(event.ResponseURL, { method: "PUT", headers: { "content-type": "" }, body: toResponse(Status, Reason) });
  if (event.RequestType === "Delete") return void (await report("SUCCESS"));
  try {
    await new CodeBuildClient().send(new StartBuildCommand({
      projectName: process.env.PROJECT,
      environmentVariablesOverride: [
        { name: "RESPONSE_URL", value: event.ResponseURL },
        { name: "RESPONSE", value: toResponse("STATUS_OF_BUILD") },
      ],
    }));
  } catch (error) {
    console.error(error);
    await report("FAILED", "CodeBuild did not start the build: " + String(error).slice(0, 500)
      + ". Request the CodeBuild quota that it names, or deploy with -c lambdaSandbox=zip");
  }
};
`;
