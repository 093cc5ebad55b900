import { GetAccountSettingsCommand, LambdaClient, type LambdaClientConfig } from "@aws-sdk/client-lambda";

/** Seconds that the lookup may take. */
const LOOKUP_SECONDS = 10;

/** Looks up Lambda's quota "Concurrent executions" of the account. Returns undefined without credentials, or if the request fails. */
export async function lookUpAccountConcurrency(
  environment: Readonly<Record<string, string | undefined>>,
  options: LambdaClientConfig = {},
): Promise<number | undefined> {
  const { CDK_DEFAULT_ACCOUNT: account, CDK_DEFAULT_REGION: region } = environment;
  // The command line of the CDK names an account only where it has credentials.
  if (account === undefined || region === undefined) return undefined;
  const client = new LambdaClient({ region, ...options });
  try {
    const abortSignal = AbortSignal.timeout(LOOKUP_SECONDS * 1000);
    const { AccountLimit: limit } = await client.send(new GetAccountSettingsCommand({}), { abortSignal });
    return limit?.ConcurrentExecutions;
  } catch {
    return undefined;
  } finally {
    client.destroy();
  }
}
