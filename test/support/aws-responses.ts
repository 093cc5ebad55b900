import { type AnyClient, addMiddleware, commandOf } from "#shared/aws/middleware.ts";

/** Answers the calls of a client in place of AWS, in turn: what is an error is thrown. The last answer is repeated. */
export function respondToCalls(client: AnyClient, ...responses: readonly object[]): string[] {
  const calls: string[] = [];
  addMiddleware(client, { step: "initialize", name: "answer" }, (_, context) => async ({ input }) => {
    calls.push(`${commandOf(context)} ${JSON.stringify(input)}`);
    const response = responses[Math.min(calls.length, responses.length) - 1] ?? {};
    if (response instanceof Error) throw response;
    return { output: response, response: undefined };
  });
  return calls;
}
