import { Aws } from "aws-cdk-lib";
import { PolicyStatement } from "aws-cdk-lib/aws-iam";
import type { Rights } from "../rights.ts";
import type { FargateTasks } from "./fargate-tasks.ts";
import type { MicrovmImage } from "./microvm-image.ts";

/** The sandboxes of a deployment other than functions. */
export interface Sandboxes {
  /** Kinds of sandboxes, the default first, as in settings.ts. */
  readonly offered: readonly string[];
  /** @default there are no MicroVMs */
  readonly microvm?: MicrovmImage;
  /** @default there are no containers */
  readonly fargate?: FargateTasks;
}

type Right = NonNullable<Rights["sandboxes"]>[number];

/** The rights to start and stop sandboxes other than functions; none if the deployment has only functions. */
export function sandboxStatements(rights: readonly Right[], { microvm, fargate }: Sandboxes): PolicyStatement[] {
  const statements: PolicyStatement[] = [];
  const allow = (actions: string[], resources: string[], conditions?: Record<string, Record<string, string>>) =>
    statements.push(new PolicyStatement({ actions, resources, ...(conditions && { conditions }) }));
  const starts = rights.includes("start");
  const stops = rights.includes("stop");
  if (microvm !== undefined && starts) {
    allow(["lambda:RunMicrovm"], [microvm.arn]);
    // The network connectors that a VM may get: outbound only.
    allow(["lambda:PassNetworkConnector"], ["INTERNET_EGRESS", "NO_INGRESS"].map(connector));
  }
  if (microvm !== undefined && stops) allow(["lambda:GetMicrovm", "lambda:TerminateMicrovm"], [microvm.arn]);
  if (fargate !== undefined && starts) {
    const inCluster = { ArnEquals: { "ecs:cluster": fargate.clusterArn } };
    allow(["ecs:RunTask"], [fargate.definitionArns], inCluster);
    // The action takes no resource. The next statement limits the roles that a definition can name.
    allow(["ecs:RegisterTaskDefinition"], ["*"]);
    allow(["iam:PassRole"], [fargate.executionRole.roleArn], {
      StringEquals: { "iam:PassedToService": "ecs-tasks.amazonaws.com" },
    });
  }
  if (fargate !== undefined && stops) {
    allow(["ecs:DescribeTasks", "ecs:StopTask"], [fargate.taskArns]);
    // The action lists the tasks of a cluster, so it cannot be granted on single tasks.
    allow(["ecs:ListTasks"], ["*"], { ArnEquals: { "ecs:cluster": fargate.clusterArn } });
  }
  return statements;
}

/** The variables by which a function with these rights finds the sandboxes. */
export function sandboxEnvironment(rights: readonly Right[], sandboxes: Sandboxes): Record<string, string> {
  const { offered, microvm, fargate } = sandboxes;
  const chooses = rights.includes("start") || rights.includes("know");
  // Unset variables mean the default, as in earlier releases.
  const kinds = chooses && offered.join() !== "lambda" ? { SANDBOXES: offered.join(",") } : {};
  if (!rights.includes("start") && !rights.includes("stop")) return kinds;
  return {
    ...kinds,
    ...(microvm && { MICROVM_IMAGE_ARN: microvm.arnIfAny }),
    ...fargate?.environment,
  };
}

const connector = (name: string): string =>
  `arn:${Aws.PARTITION}:lambda:${Aws.REGION}:aws:network-connector:aws-network-connector:${name}`;
