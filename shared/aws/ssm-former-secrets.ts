import { DeleteParameterCommand, GetParametersCommand, ParameterNotFound, type SSMClient } from "@aws-sdk/client-ssm";
import { splitIntoBatches } from "#shared/arrays.ts";
import type { FormerSecrets } from "#shared/vault/secret-value-store.ts";
import { throwRefusal } from "./ssm-refusals.ts";

/** Parameters that one call returns. */
const BATCH = 10;
const ENCODED = "base64:";

/** Values that an earlier release stored as SecureString parameters of Systems Manager. Each is called `‹path›/‹team›/‹id›`. */
export function ssmFormerSecrets(client: SSMClient, path: () => string): FormerSecrets {
  const toName = (team: string, id: string) => `${path()}/${team}/${id}`;
  return {
    async getAll(team, ids) {
      const values = new Map<string, string>();
      for (const batch of splitIntoBatches(ids, BATCH)) {
        const byName = new Map(batch.map((id) => [toName(team, id), id]));
        const { Parameters = [] } = await client
          .send(new GetParametersCommand({ Names: [...byName.keys()], WithDecryption: true }))
          .catch(throwRefusal);
        for (const { Name = "", Value } of Parameters) {
          const id = byName.get(Name);
          if (id !== undefined && Value !== undefined) values.set(id, decodeParameter(Value));
        }
      }
      return values;
    },
    async remove(team, id) {
      await client.send(new DeleteParameterCommand({ Name: toName(team, id) })).catch((error: unknown) => {
        if (!(error instanceof ParameterNotFound)) throwRefusal(error);
      });
    },
  };
}

/** Parameter Store reads double braces as a reference to another parameter, so that values with them were stored as base64. */
export const decodeParameter = (text: string): string =>
  text.startsWith(ENCODED) ? Buffer.from(text.slice(ENCODED.length), "base64").toString() : text;
