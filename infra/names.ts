import { RetentionDays } from "aws-cdk-lib/aws-logs";
import type { Construct } from "constructs";

/** The prefix of all names, unless the context `prefix` is another one. */
const DEFAULT_PREFIX = "runyard";

/** Days that a log group can keep its lines, as CloudWatch accepts them. */
export const RETENTION_DAYS: readonly number[] = Object.values(RetentionDays)
  .filter((days) => typeof days === "number")
  .filter((days) => days !== RetentionDays.INFINITE);

/** The prefix of the deployment. It distinguishes several deployments in one account and region. */
export function readPrefix(scope: Pick<Construct, "node">): string {
  const prefix: unknown = scope.node.tryGetContext("prefix");
  return typeof prefix === "string" && prefix !== "" ? prefix : DEFAULT_PREFIX;
}

/** The name of a resource in the account: `runyard-reap-runs`; without a name, the prefix alone. */
export const toName = (scope: Construct, name?: string): string =>
  name === undefined ? readPrefix(scope) : `${readPrefix(scope)}-${name}`;

/** The path of a log group or a parameter: `/runyard/functions/reap-runs`. */
export const toPath = (scope: Construct, path: string): string => `/${readPrefix(scope)}/${path}`;

/** The name of a stack: `Runyard-Data`. */
export const toStackName = (prefix: string, name: string): string => `${pascal(prefix)}-${name}`;

/** The namespace of the deployment's own metrics. */
export const toNamespace = (scope: Construct): string => pascal(readPrefix(scope));

/** Days for which logs are kept, context `logRetentionDays`. */
export function logRetention(scope: Construct): RetentionDays {
  const days = Number(scope.node.tryGetContext("logRetentionDays") || RetentionDays.ONE_MONTH);
  return RETENTION_DAYS.includes(days) ? days : RetentionDays.ONE_MONTH;
}

/** `harness` becomes `Harness`, `get-run` becomes `GetRun`. */
export function pascal(name: string): string {
  return name.replaceAll(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase());
}
