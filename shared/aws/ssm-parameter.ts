import { GetParameterCommand, ParameterNotFound, type SSMClient } from "@aws-sdk/client-ssm";

/** Milliseconds that a parameter's value is taken for true; a new value is in use so much later at most. */
const KEPT_MS = 5 * 60_000;

/** A parameter of Systems Manager that an operator may set: its value, or undefined where there is none. */
export function ssmParameter(client: SSMClient, name: string, now: () => number): () => Promise<string | undefined> {
  let kept: { readonly value: string | undefined; readonly until: number } | undefined;
  return async () => {
    if (kept === undefined || kept.until <= now()) kept = { value: await read(client, name), until: now() + KEPT_MS };
    return kept.value;
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
