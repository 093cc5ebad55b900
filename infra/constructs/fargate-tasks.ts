import { Aws, RemovalPolicy, Stack } from "aws-cdk-lib";
import { IpAddresses, type IVpc, SecurityGroup, SubnetType, Vpc } from "aws-cdk-lib/aws-ec2";
import { CfnCluster } from "aws-cdk-lib/aws-ecs";
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { LogGroup } from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import { logRetention, toName, toPath } from "../names.ts";
import { ownLog } from "./own-log.ts";
import type { SandboxImage } from "./sandbox-image.ts";

export interface FargateTasksProps {
  /** The image that contains the harness. */
  readonly image: SandboxImage;
}

/**
 * The resources of Fargate tasks: a cluster, and a network with an internet gateway, neither of which is billed while no task
 * runs. A NAT gateway would be billed; instead each task has a public address while it runs, and a security group without inbound
 * traffic.
 */
export class FargateTasks extends Construct {
  readonly clusterArn: string;
  readonly executionRole: Role;
  /** Environment variables of the functions that start and stop tasks. */
  readonly environment: Readonly<Record<string, string>>;
  /** Name of the cluster, which distinguishes its tasks from others. */
  readonly #cluster: string;

  constructor(scope: Construct, id: string, { image }: FargateTasksProps) {
    super(scope, id);
    this.#cluster = toName(this);
    const vpc: unknown = new Vpc(this, "Network", {
      vpcName: toName(this, "sandboxes"),
      ipAddresses: IpAddresses.cidr("10.83.0.0/16"),
      maxAzs: 2,
      natGateways: 0,
      subnetConfiguration: [
        { name: "Public", subnetType: SubnetType.PUBLIC, cidrMask: 18, mapPublicIpOnLaunch: false },
      ],
      // Nothing uses the default group, and restricting it would need a function of the CDK.
      restrictDefaultSecurityGroup: false,
    });
    if (!isVpc(vpc)) throw new Error("aws-cdk-lib is there twice");
    const group = new SecurityGroup(this, "Group", {
      vpc,
      description: "Runyard sandboxes: everything out, nothing in",
      allowAllOutbound: true,
    });
    const log = new LogGroup(this, "Log", {
      logGroupName: toPath(this, "fargate"),
      retention: logRetention(this),
      removalPolicy: RemovalPolicy.DESTROY,
    });
    new CfnCluster(this, "Cluster", {
      clusterName: this.#cluster,
      clusterSettings: [{ name: "containerInsights", value: "disabled" }],
    });
    this.clusterArn = Stack.of(this).formatArn({ service: "ecs", resource: "cluster", resourceName: this.#cluster });
    // ECS uses it to pull the image and to open the log. The processes of a task have no role, so no credentials.
    this.executionRole = new Role(this, "ExecutionRole", {
      assumedBy: new ServicePrincipal("ecs-tasks.amazonaws.com"),
      description: toName(this, "fargate-execution"),
      inlinePolicies: {
        rights: new PolicyDocument({
          statements: [
            ownLog(log),
            new PolicyStatement({
              actions: ["ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"],
              resources: [image.repository.repositoryArn],
            }),
            new PolicyStatement({ actions: ["ecr:GetAuthorizationToken"], resources: ["*"] }),
          ],
        }),
      },
    });
    this.environment = {
      FARGATE_CLUSTER: this.#cluster,
      FARGATE_SUBNETS: vpc.publicSubnets.map(({ subnetId }) => subnetId).join(","),
      FARGATE_SECURITY_GROUP: group.securityGroupId,
      FARGATE_EXECUTION_ROLE_ARN: this.executionRole.roleArn,
      FARGATE_HARNESS_IMAGE: image.repository.repositoryUriForTag(image.tag),
      FARGATE_LOG_GROUP: log.logGroupName,
    };
  }

  /** All tasks of the cluster. */
  get taskArns(): string {
    return `arn:${Aws.PARTITION}:ecs:${Aws.REGION}:${Aws.ACCOUNT_ID}:task/${this.#cluster}/*`;
  }

  /** All task definitions of the deployment, whose names contain a hash of their content. */
  get definitionArns(): string {
    return `arn:${Aws.PARTITION}:ecs:${Aws.REGION}:${Aws.ACCOUNT_ID}:task-definition/runyard-*:*`;
  }
}

/** CDK's Vpc misses its own interface under exactOptionalPropertyTypes by one member, and only in the types. */
const isVpc = (vpc: unknown): vpc is IVpc => vpc instanceof Vpc;
