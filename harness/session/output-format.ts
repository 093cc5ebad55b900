import type { TurnOutcome } from "../engine/engine.ts";
import { formatOutputRequest, readOutputRequest } from "../engine/output-request.ts";
import type { Start } from "../engine/resume.ts";
import type { RunContext } from "../setup/run-context.ts";

type Formatted = {
  readonly mode: RunContext["mode"];
  readonly agent_config: Pick<RunContext["agent_config"], "output_schema">;
};

/** How often the agent is asked again when its response does not fit the run's output schema. */
const MAX_REQUESTS = 2;

/** The responses of a run, as its output schema wants them. */
export interface OutputFormat {
  /** Returns how the turn ends, or what the agent is told to respond again. */
  review(ended: TurnOutcome): { readonly ended: TurnOutcome } | { readonly request: string };
}

/** Finds the schema of the run's responses. A plan is for people, and has none. */
const findSchema = ({ mode, agent_config }: Formatted) => (mode === "plan" ? undefined : agent_config.output_schema);

/** Adds to the instructions of a run how the agent has to respond. */
export function addOutputFormat(systemPrompt: string | undefined, context: Formatted): string | undefined {
  const schema = findSchema(context);
  if (schema === undefined) return systemPrompt;
  const format = `When the task is done, your last response is read by a program: it must be nothing but one JSON value that fits the JSON \
Schema below, without a sentence before or after it. This precedes other instructions about the form of your last response.

${JSON.stringify(schema)}`;
  return systemPrompt === undefined || systemPrompt === "" ? format : `${systemPrompt}\n\n${format}`;
}

/** Reads the output schema of a run; undefined if it has none. Requests of an earlier execution count. */
export async function readOutputFormat(context: Formatted, start: Start): Promise<OutputFormat | undefined> {
  const schema = findSchema(context);
  if (schema === undefined) return undefined;
  // Most runs have no schema, and need not load what checks one.
  const { checkOutput } = await import("#shared/output/check-output.ts");
  let requests = start.from === "followup" ? readOutputRequest(start.message) : 0;
  return {
    review(ended) {
      if (!ended.success) {
        requests = 0;
        return { ended };
      }
      const output = checkOutput(ended.summary, schema);
      if (!("errors" in output)) {
        requests = 0;
        return { ended };
      }
      if (requests < MAX_REQUESTS) return { request: formatOutputRequest(++requests, MAX_REQUESTS, output.errors) };
      requests = 0;
      const summary = `config.output_schema: the agent's response still did not fit after ${MAX_REQUESTS} more requests: ${output.errors[0]}`;
      return { ended: { success: false, error_code: "invalid_request", summary } };
    },
  };
}
