import type { Stack } from "aws-cdk-lib";
import { PolicyStatement } from "aws-cdk-lib/aws-iam";

/** A parameter of Systems Manager, or a secret of Secrets Manager that is read as one. */
export interface Parameter {
  readonly name: string;
  readonly arn: string;
  /** The secret that the parameter refers to. @default none: it is an ordinary parameter */
  readonly secretArn?: string;
}

/**
 * Systems Manager returns a Secrets Manager secret for these names, if the caller may read the secret too.
 * @see https://docs.aws.amazon.com/systems-manager/latest/userguide/integration-ps-secretsmanager.html
 */
const SECRETS = "/aws/reference/secretsmanager/";

export function namedParameter(stack: Stack, name: string): Parameter {
  const arn = stack.formatArn({ service: "ssm", resource: `parameter${name}` });
  if (!name.startsWith(SECRETS)) return { name, arn };
  // A secret's ARN ends in six characters that AWS adds to its name.
  const secret = `secret:${name.slice(SECRETS.length)}-??????`;
  return { name, arn, secretArn: stack.formatArn({ service: "secretsmanager", resource: secret }) };
}

/** The permissions to read parameters; empty without parameters. */
export function readStatements(parameters: readonly Parameter[]): PolicyStatement[] {
  const secrets = parameters.flatMap(({ secretArn }) => (secretArn === undefined ? [] : [secretArn]));
  return [
    { actions: ["ssm:GetParameter"], resources: parameters.map(({ arn }) => arn) },
    { actions: ["secretsmanager:GetSecretValue"], resources: secrets },
  ].flatMap((statement) => (statement.resources.length === 0 ? [] : [new PolicyStatement(statement)]));
}
