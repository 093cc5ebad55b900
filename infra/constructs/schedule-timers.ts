import { Stack } from "aws-cdk-lib";
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { CfnScheduleGroup } from "aws-cdk-lib/aws-scheduler";
import type { IQueue } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import type { Timers } from "./grants.ts";

export interface ScheduleTimersProps {
  /** Name of the group. Its timers are created at run time, one for each schedule. */
  readonly group: string;
  /** The queue that a timer sends to when it fires. */
  readonly queue: IQueue;
}

/** The schedule group of the timers, and their role, which may send to the queue and nothing else. */
export class ScheduleTimers extends Construct implements Timers {
  readonly group: string;
  readonly arns: string;
  readonly queue: IQueue;
  readonly role: Role;

  constructor(scope: Construct, id: string, { group, queue }: ScheduleTimersProps) {
    super(scope, id);
    const stack = Stack.of(this);
    this.group = group;
    this.queue = queue;
    new CfnScheduleGroup(this, "Group", { name: group });
    this.arns = stack.formatArn({ service: "scheduler", resource: "schedule", resourceName: `${group}/*` });
    this.role = new Role(this, "Role", {
      // The scheduler may assume the role for the schedules of this group only.
      assumedBy: new ServicePrincipal("scheduler.amazonaws.com", {
        conditions: {
          StringEquals: {
            "aws:SourceAccount": stack.account,
            "aws:SourceArn": stack.formatArn({ service: "scheduler", resource: "schedule-group", resourceName: group }),
          },
        },
      }),
      description: "runyard-timers",
      inlinePolicies: {
        rights: new PolicyDocument({
          statements: [new PolicyStatement({ actions: ["sqs:SendMessage"], resources: [queue.queueArn] })],
        }),
      },
    });
  }
}
