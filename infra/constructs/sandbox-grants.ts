import { Aws } from "aws-cdk-lib";
import { PolicyStatement } from "aws-cdk-lib/aws-iam";
import type { Rights } from "../rights.ts";
import type { FargateTasks } from "./fargate-tasks.ts";
import type { MicrovmImage } from "./microvm-image.ts";

/** The sandboxes of a deployment that are no functions. */
export interface Sandboxes {
  /** Kinds of sandboxes, the usual one first, as settings.ts has them. */
  readonly offered: readonly string[];
  /** @default there are no MicroVMs */
  readonly microvm?: MicrovmImage;
  /** @default there are no containers */
  readonly fargate?: FargateTasks;
}

type Right = NonNullable<Rights["sandboxes"]>[number];

/** What starting and stopping sandboxes comes to, as far as the deployment has any: nothing where functions are all there is. */
export function sandboxStatements(rights: readonly Right[], { microvm, fargate }: Sandboxes): PolicyStatement[] {
  const statements: PolicyStatement[] = [];
  const allow = (actions: string[], resources: string[], conditions?: Record<string, Record<string, string>>) =>
    statements.push(new PolicyStatement({ actions, resources, ...(conditions && { conditions }) }));
  const starts = rights.includes("start");
  const stops = rights.includes("stop");
  if (microvm !== undefined && starts) {
    allow(["lambda:RunMicrovm"], [microvm.arn]);
    // What a machine may be given besides: a way out, and none in.
    allow(["lambda:PassNetworkConnector"], ["INTERNET_EGRESS", "NO_INGRESS"].map(connector));
  }
  if (microvm !== undefined && stops) allow(["lambda:GetMicrovm", "lambda:TerminateMicrovm"], [microvm.arn]);
  if (fargate !== undefined && starts) {
    const inCluster = { ArnEquals: { "ecs:cluster": fargate.clusterArn } };
    allow(["ecs:RunTask"], [fargate.definitionArns], inCluster);
    // It takes no resource. What a definition may say of roles is what the next statement allows.
    allow(["ecs:RegisterTaskDefinition"], ["*"]);
    allow(["iam:PassRole"], [fargate.executionRole.roleArn], {
      StringEquals: { "iam:PassedToService": "ecs-tasks.amazonaws.com" },
    });
  }
  if (fargate !== undefined && stops) {
    allow(["ecs:DescribeTasks", "ecs:StopTask"], [fargate.taskArns]);
    // A list is of a cluster and not of a task.
    allow(["ecs:ListTasks"], ["*"], { ArnEquals: { "ecs:cluster": fargate.clusterArn } });
  }
  return statements;
}

/** By what a function with these rights finds the sandboxes. */
export function sandboxEnvironment(rights: readonly Right[], sandboxes: Sandboxes): Record<string, string> {
  const { offered, microvm, fargate } = sandboxes;
  const chooses = rights.includes("start") || rights.includes("know");
  // What is not said is the default, as it always was.
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
