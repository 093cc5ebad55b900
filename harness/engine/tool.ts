import { toJsonSchema } from "@valibot/to-json-schema";
import * as v from "valibot";
import type { Block } from "#shared/wire/conversation.ts";
import type { TurnOutcome } from "#shared/wire/executions/turn.ts";
import { repairInput } from "./repair-input.ts";

/** A tool as a model sees it. Each use is an `action` in the conversation, and its result an `action_result`. */
export interface Tool {
  readonly name: string;
  /** For the model: what the tool does, its limits, and its result. */
  readonly description: string;
  /** JSON Schema of the input, an object. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly category: Category;
  /** Changes nothing, so it is available in plan mode too. */
  readonly readsOnly: boolean;
  /** Only reads, so that calls of one response may run at the same time. @default false */
  readonly parallel?: boolean;
  /** The tool that carries out calls of this one. The conversation shows them as calls of that. */
  readonly via?: { readonly tool: Tool; toInput(input: unknown): unknown };
  /**
   * @param input as the model sent it, not validated
   * @throws Stop, SliceEnd and Interrupted end the turn; any other error becomes a failed result that the model can react to
   */
  run(input: unknown, call: ToolCall): Promise<ToolResult>;
}

export type Category = Extract<Block, { type: "action" }>["category"];

export interface ToolCall {
  /** Unique in the conversation. */
  readonly id: string;
  /** Aborted when the turn or the execution ends early. */
  readonly signal: AbortSignal;
  /** Receives output while the tool is running; it is not redacted. */
  readonly onOutput?: (chunk: Buffer) => void;
}

export interface ToolResult {
  /** The result for the model and the conversation. It is redacted later. */
  readonly output: Readonly<Record<string, unknown>>;
  /** @default false */
  readonly isError?: boolean;
  /** The change of files as people see it; the model does not get it. It is redacted already. */
  readonly diff?: StepDiff;
  /** Images for the model that made the call, if it sees images. Nothing of them is redacted or recorded. */
  readonly images?: readonly ToolImage[];
  /** Ends the turn with this outcome, such as a question to the run's user. */
  readonly ends?: TurnOutcome;
}

/** An image that a tool shows to the model. The conversation records what it is, and not the image. */
export interface ToolImage {
  readonly format: "png" | "jpeg";
  readonly bytes: Uint8Array;
}

/** A unified diff with its numbers of lines. */
export interface StepDiff {
  readonly text: string;
  readonly added: number;
  readonly removed: number;
}

interface ToolDefinition<T extends v.GenericSchema> extends Omit<Tool, "inputSchema" | "run"> {
  /** An object schema; descriptions of its members are for the model. */
  readonly input: T;
  run(input: v.InferOutput<T>, call: ToolCall): Promise<ToolResult>;
}

/** Defines a tool that validates its input, repaired if necessary, and returns the invalid members to the model. */
export function defineTool<T extends v.GenericSchema>({ input: schema, run, ...tool }: ToolDefinition<T>): Tool {
  const inputSchema = { ...toJsonSchema(schema, { errorMode: "ignore" }) };
  return {
    ...tool,
    inputSchema,
    async run(input, call) {
      const parsed = v.safeParse(schema, input);
      if (parsed.success) return await run(parsed.output, call);
      const repaired = v.safeParse(schema, repairInput(input, inputSchema));
      if (repaired.success) return await run(repaired.output, call);
      const wrong = parsed.issues.map((issue) => `${v.getDotPath(issue) ?? "input"}: ${issue.message}`);
      return { isError: true, output: { error: `the input does not match the schema: ${wrong.join("; ")}` } };
    },
  };
}
