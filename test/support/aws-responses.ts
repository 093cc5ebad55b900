import { type AnyClient, addMiddleware, commandOf } from "#shared/aws/middleware.ts";

/** Answers the calls of a client in place of AWS, in turn: what is an error is thrown. The last answer is repeated. */
export function answerCalls(client: AnyClient, ...answers: readonly object[]): string[] {
  const calls: string[] = [];
  addMiddleware(client, { step: "initialize", name: "answer" }, (_, context) => async ({ input }) => {
    calls.push(`${commandOf(context)} ${JSON.stringify(input)}`);
    const answer = answers[Math.min(calls.length, answers.length) - 1] ?? {};
    if (answer instanceof Error) throw answer;
    return { output: answer, response: undefined };
  });
  return calls;
}
