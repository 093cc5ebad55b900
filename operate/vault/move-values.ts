import {
  DeleteParameterCommand,
  ParameterNotFound,
  paginateGetParametersByPath,
  type SSMClient,
} from "@aws-sdk/client-ssm";
import { decodeParameter } from "#shared/aws/ssm-former-secrets.ts";
import type { SecretVault } from "#shared/vault/secret-vault.ts";

interface FormerValue {
  readonly parameter: string;
  readonly team: string;
  readonly id: string;
  readonly value: string;
}

/**
 * Moves the values that an earlier release stored as parameters below a path into the table. If it is interrupted, it can be repeated.
 * Returns their number.
 */
export async function moveValues(
  ssm: SSMClient,
  path: string,
  vault: Pick<SecretVault, "put" | "remove">,
): Promise<number> {
  // All of them are read before the first is deleted, which would change the pages.
  const values = await listValues(ssm, path);
  for (const { parameter, team, id, value } of values) {
    await vault.put(team, id, value);
    try {
      await ssm.send(new DeleteParameterCommand({ Name: parameter }));
    } catch (error) {
      if (!(error instanceof ParameterNotFound)) throw error;
      // The secret was deleted since it was read.
      await vault.remove(team, id);
    }
  }
  return values.length;
}

async function listValues(ssm: SSMClient, path: string): Promise<FormerValue[]> {
  const values: FormerValue[] = [];
  const below = { Path: path, Recursive: true, WithDecryption: true };
  for await (const { Parameters = [] } of paginateGetParametersByPath({ client: ssm }, below)) {
    for (const { Name: parameter = "", Value: value } of Parameters) {
      const [team, id, ...others] = parameter.slice(path.length + 1).split("/");
      if (team === undefined || id === undefined || others.length > 0 || value === undefined) continue;
      values.push({ parameter, team, id, value: decodeParameter(value) });
    }
  }
  return values;
}
