import { type AnyClient, addMiddleware, commandOf } from "#shared/aws/middleware.ts";

/** Returns `responses` to a client's calls, in order, instead of AWS. Errors are thrown. The last response is repeated. */
export function respondToCalls(client: AnyClient, ...responses: readonly object[]): string[] {
  const calls: string[] = [];
  addMiddleware(client, { step: "initialize", name: "respond" }, (_, context) => async ({ input }) => {
    calls.push(`${commandOf(context)} ${JSON.stringify(input)}`);
    const response = responses[Math.min(calls.length, responses.length) - 1] ?? {};
    if (response instanceof Error) throw response;
    return { output: response, response: undefined };
  });
  return calls;
}
