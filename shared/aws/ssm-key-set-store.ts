import {
  GetParameterCommand,
  ParameterAlreadyExists,
  ParameterNotFound,
  PutParameterCommand,
  type SSMClient,
} from "@aws-sdk/client-ssm";
import type { KeySetStore } from "#shared/vault/key-set-store.ts";
import { throwRefusal } from "./ssm-refusals.ts";

/**
 * A set of keys as one SecureString parameter of Systems Manager.
 * @param kmsKey the KMS key under which it is encrypted; by default, the one that AWS keeps for parameters
 */
export function ssmKeySetStore(
  client: SSMClient,
  name: () => string,
  kmsKey: () => string | undefined = () => undefined,
): KeySetStore {
  const put = (content: string, overwrite: boolean) => {
    const key = kmsKey();
    return client.send(
      new PutParameterCommand({
        Name: name(),
        Value: content,
        Type: "SecureString",
        Tier: "Standard",
        Overwrite: overwrite,
        ...(key !== undefined && { KeyId: key }),
      }),
    );
  };
  return {
    async read() {
      try {
        const { Parameter } = await client.send(new GetParameterCommand({ Name: name(), WithDecryption: true }));
        return Parameter?.Value;
      } catch (error) {
        if (error instanceof ParameterNotFound) return undefined;
        return throwRefusal(error);
      }
    },
    async create(content) {
      try {
        await put(content, false);
        return true;
      } catch (error) {
        if (error instanceof ParameterAlreadyExists) return false;
        return throwRefusal(error);
      }
    },
    replace: async (content) => void (await put(content, true).catch(throwRefusal)),
  };
}
