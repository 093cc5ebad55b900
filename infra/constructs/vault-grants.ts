import { PolicyStatement } from "aws-cdk-lib/aws-iam";
import type { Rights } from "../rights.ts";
import type { Parameter } from "./parameter.ts";

/** A parameter with keys of the vault. */
export interface VaultKeys extends Parameter {
  /** ARN of the KMS key that encrypts it. @default the one that AWS keeps for parameters */
  readonly kmsKey?: string | undefined;
}

type KeyRight = NonNullable<Rights["secretsKey"] | Rights["webhookSecretsKey"]>[number];

/** A key of the vault. A function can create but never replace it, which would make stored values unreadable. */
export function vaultKeyStatements(rights: readonly KeyRight[], { arn, kmsKey }: VaultKeys): PolicyStatement[] {
  const statements: PolicyStatement[] = [];
  const creates = rights.includes("PutParameter");
  if (rights.includes("GetParameter")) {
    statements.push(new PolicyStatement({ actions: ["ssm:GetParameter"], resources: [arn] }));
  }
  if (creates) {
    const conditions = { StringNotEqualsIgnoreCase: { "ssm:Overwrite": "true" } };
    statements.push(new PolicyStatement({ actions: ["ssm:PutParameter"], resources: [arn], conditions }));
  }
  if (kmsKey !== undefined) statements.push(allowKms(kmsKey, creates ? ["Decrypt", "Encrypt"] : ["Decrypt"], arn));
  return statements;
}

/** The variables by which a function with these rights finds the key: `variable` names its parameter. */
export function vaultKeyEnvironment(
  rights: readonly KeyRight[],
  { name, kmsKey }: VaultKeys,
  variable: string,
): Record<string, string> {
  const creates = rights.includes("PutParameter");
  return { [variable]: name, ...(kmsKey !== undefined && creates && { SECRETS_KMS_KEY: kmsKey }) };
}

/**
 * The use of a KMS key for one parameter, which Systems Manager names to KMS.
 * @see https://docs.aws.amazon.com/kms/latest/developerguide/services-parameter-store.html
 */
function allowKms(key: string, actions: readonly string[], parameterArn: string): PolicyStatement {
  return new PolicyStatement({
    actions: actions.map((action) => `kms:${action}`),
    resources: [key],
    conditions: { StringEquals: { "kms:EncryptionContext:PARAMETER_ARN": parameterArn } },
  });
}
