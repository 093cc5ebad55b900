import { toJsonSchema } from "@valibot/to-json-schema";
import * as v from "valibot";
import type { Block } from "#shared/wire/conversation.ts";
import type { FinishTaskRequest } from "#shared/wire/harness.ts";

/** What a model may use, as it sees it: each use is an action of the conversation, and its result an action_result. */
export interface Tool {
  readonly name: string;
  /** For the model: what it does, its limits, what its answer looks like. */
  readonly description: string;
  /** JSON Schema of the input, an object. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly category: Category;
  /** Changes nothing, so it is there in plan mode too. */
  readonly readsOnly: boolean;
  /**
   * @param input what the model sent, not yet checked
   * @throws Stop, SliceEnd and Interrupted go through; anything else becomes a failed result that the model may react to
   */
  run(input: unknown, call: ToolCall): Promise<ToolResult>;
}

export type Category = Extract<Block, { type: "action" }>["category"];

export interface ToolCall {
  /** Unique in the conversation. */
  readonly id: string;
  /** Aborted when the turn or the execution ends early. */
  readonly signal: AbortSignal;
}

export interface ToolResult {
  /** What model and conversation see, as JSON; secrets are taken out of it later. */
  readonly output: Readonly<Record<string, unknown>>;
  /** @default false */
  readonly isError?: boolean;
  /** Ends the turn with this outcome, such as a question to the run's user. */
  readonly ends?: FinishTaskRequest;
}

interface ToolDefinition<T extends v.GenericSchema> extends Omit<Tool, "inputSchema" | "run"> {
  /** An object schema; descriptions of its members are for the model. */
  readonly input: T;
  run(input: v.InferOutput<T>, call: ToolCall): Promise<ToolResult>;
}

/** A tool whose input is checked before it runs; what is wrong with it is told to the model, by member. */
export function defineTool<T extends v.GenericSchema>({ input: schema, run, ...tool }: ToolDefinition<T>): Tool {
  return {
    ...tool,
    inputSchema: { ...toJsonSchema(schema, { errorMode: "ignore" }) },
    async run(input, call) {
      const parsed = v.safeParse(schema, input);
      if (parsed.success) return await run(parsed.output, call);
      const wrong = parsed.issues.map((issue) => `${v.getDotPath(issue) ?? "input"}: ${issue.message}`);
      return { isError: true, output: { error: `the input is not as the schema says: ${wrong.join("; ")}` } };
    },
  };
}
