import {
  DeleteParameterCommand,
  GetParametersCommand,
  ParameterNotFound,
  PutParameterCommand,
  type SSMClient,
} from "@aws-sdk/client-ssm";
import { splitIntoBatches } from "#shared/arrays.ts";
import { invalid } from "#shared/errors.ts";
import type { SecretVault } from "#shared/vault/secret-vault.ts";

/** Bytes of a parameter in the standard tier. */
const MAX_BYTES = 4096;
/** Parameters that one call returns. */
const BATCH = 10;
const ENCODED = "base64:";

/**
 * Values as SecureString parameters of Systems Manager, under the key that AWS keeps for them: they cost nothing, in the
 * standard tier, which takes 4 KB. Each is called `‹path›/‹team›/‹id›`.
 */
export function ssmSecretVault(client: SSMClient, path: () => string): SecretVault {
  const toName = (team: string, id: string) => `${path()}/${team}/${id}`;
  return {
    async put(team, id, value) {
      await client.send(
        new PutParameterCommand({
          Name: toName(team, id),
          Value: stored(value),
          Type: "SecureString",
          Tier: "Standard",
        }),
      );
    },
    async getAll(team, ids) {
      const values = new Map<string, string>();
      for (const batch of splitIntoBatches(ids, BATCH)) {
        const byName = new Map(batch.map((id) => [toName(team, id), id]));
        const { Parameters = [] } = await client.send(
          new GetParametersCommand({ Names: [...byName.keys()], WithDecryption: true }),
        );
        for (const { Name = "", Value } of Parameters) {
          const id = byName.get(Name);
          if (id !== undefined && Value !== undefined) values.set(id, original(Value));
        }
      }
      return values;
    },
    async remove(team, id) {
      await client.send(new DeleteParameterCommand({ Name: toName(team, id) })).catch((error: unknown) => {
        if (!(error instanceof ParameterNotFound)) throw error;
      });
    },
  };
}

/** Parameter Store reads double braces as a reference to another parameter, and refuses the value. */
function stored(value: string): string {
  if (!value.includes("{{") && !value.startsWith(ENCODED)) return value;
  const encoded = `${ENCODED}${Buffer.from(value).toString("base64")}`;
  if (encoded.length > MAX_BYTES) throw invalid("value", "with {{ in it, must have at most 3,000 bytes");
  return encoded;
}

const original = (text: string): string =>
  text.startsWith(ENCODED) ? Buffer.from(text.slice(ENCODED.length), "base64").toString() : text;
