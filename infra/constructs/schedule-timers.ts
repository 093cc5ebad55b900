import { ArnFormat, Stack } from "aws-cdk-lib";
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { CfnScheduleGroup } from "aws-cdk-lib/aws-scheduler";
import { Construct } from "constructs";
import { toName } from "../names.ts";
import type { Timers } from "./grants.ts";

export interface ScheduleTimersProps {
  /** Name of the group. Its timers are created at run time, one for each schedule. */
  readonly group: string;
  /** Name of the function that a timer invokes when it fires. */
  readonly functionName: string;
}

/** The schedule group of the timers, and their role, which may invoke the function and nothing else. */
export class ScheduleTimers extends Construct implements Timers {
  readonly group: string;
  readonly arns: string;
  readonly functionArn: string;
  readonly role: Role;

  constructor(scope: Construct, id: string, { group, functionName }: ScheduleTimersProps) {
    super(scope, id);
    const stack = Stack.of(this);
    this.group = group;
    // The ARN is built from the function's name, since the function itself has rights on the timers.
    this.functionArn = stack.formatArn({
      service: "lambda",
      resource: "function",
      resourceName: functionName,
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    });
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
      description: toName(this, "timers"),
      inlinePolicies: {
        rights: new PolicyDocument({
          statements: [new PolicyStatement({ actions: ["lambda:InvokeFunction"], resources: [this.functionArn] })],
        }),
      },
    });
  }
}
