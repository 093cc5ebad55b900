import { GetParameterCommand, ParameterNotFound, type SSMClient } from "@aws-sdk/client-ssm";

/** Milliseconds for which a parameter's value is cached. */
const KEPT_MS = 5 * 60_000;

/** Creates a reader of a Systems Manager parameter, which an operator may set; undefined if there is none. */
export function ssmParameter(client: SSMClient, name: string, now: () => number): () => Promise<string | undefined> {
  let cached: { readonly value: string | undefined; readonly until: number } | undefined;
  return async () => {
    if (cached === undefined || cached.until <= now())
      cached = { value: await read(client, name), until: now() + KEPT_MS };
    return cached.value;
  };
}

async function read(client: SSMClient, name: string): Promise<string | undefined> {
  try {
    const { Parameter } = await client.send(new GetParameterCommand({ Name: name, WithDecryption: true }));
    return Parameter?.Value?.trim() || undefined;
  } catch (error) {
    if (error instanceof ParameterNotFound) return undefined;
    throw error;
  }
}
