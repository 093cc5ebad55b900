import {
  GetParameterCommand,
  ParameterAlreadyExists,
  ParameterNotFound,
  PutParameterCommand,
  type SSMClient,
} from "@aws-sdk/client-ssm";
import type { SigningKeyStore } from "#shared/vault/signing-key-store.ts";

/** The signing keys as one SecureString parameter of Systems Manager, under the key that AWS keeps for them. */
export function ssmSigningKeyStore(client: SSMClient, path: () => string): SigningKeyStore {
  const name = () => `${path()}/ring`;
  const put = (content: string, overwrite: boolean) =>
    client.send(
      new PutParameterCommand({
        Name: name(),
        Value: content,
        Type: "SecureString",
        Tier: "Standard",
        Overwrite: overwrite,
      }),
    );
  return {
    async read() {
      try {
        const { Parameter } = await client.send(new GetParameterCommand({ Name: name(), WithDecryption: true }));
        return Parameter?.Value;
      } catch (error) {
        if (error instanceof ParameterNotFound) return undefined;
        throw error;
      }
    },
    async create(content) {
      try {
        await put(content, false);
        return true;
      } catch (error) {
        if (error instanceof ParameterAlreadyExists) return false;
        throw error;
      }
    },
    replace: async (content) => void (await put(content, true)),
  };
}
