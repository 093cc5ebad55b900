/** Begins the message that asks the agent again for a response which fits the run's output schema. */
export const formatOutputRequest = (number: number, most: number, errors: readonly string[]): string =>
  `Your response does not fit the output schema of the run (request ${number} of ${most}). Respond again with nothing but the \
corrected JSON.\n${errors.map((error) => `- ${error}`).join("\n")}`;

/** The number of the request that a message is; 0 for any other. */
export const readOutputRequest = (message: string): number =>
  Number(/^Your response does not fit the output schema of the run \(request (\d) of/.exec(message)?.[1] ?? 0);
