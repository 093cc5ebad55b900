import { PolicyStatement } from "aws-cdk-lib/aws-iam";
import type { LogGroup } from "aws-cdk-lib/aws-logs";

export const OWN_LOG_ACTIONS = ["logs:CreateLogStream", "logs:PutLogEvents"] as const;

/** The rights to write to a log. */
export function ownLog(logGroup: LogGroup): PolicyStatement {
  return new PolicyStatement({
    actions: [...OWN_LOG_ACTIONS],
    resources: [logGroup.logGroupArn],
  });
}
