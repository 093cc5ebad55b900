import * as v from "valibot";

/** An event of a run, as any reader of the API has it. */
export interface ApiEvent {
  readonly type: string;
  readonly occurred_at: string;
  readonly data: unknown;
}

/** One thing that happened in a run, as a person wants to be told. Texts are as the sandbox wrote them: not to be trusted. */
export type DisplayEvent = { readonly at: string } & (
  | {
      readonly kind: "step";
      /** The state that the run moved to; absent for any other step. */
      readonly state?: string | undefined;
      /** What was done; absent where the state says it. */
      readonly name?: string | undefined;
      readonly durationMs?: number | undefined;
      readonly detail?: string | undefined;
      readonly failed: boolean;
    }
  | { readonly kind: "command"; readonly text: string; readonly shell: boolean }
  | { readonly kind: "result"; readonly said: string; readonly failed: boolean; readonly output: string }
  | { readonly kind: "text"; readonly text: string }
);

/** What an event tells, in order; nothing where there is nothing to show. */
export function toDisplayEvents({ type, occurred_at, data }: ApiEvent): DisplayEvent[] {
  if (type !== "messages") return [step(type, occurred_at, data)];
  const parsed = v.safeParse(Messages, data);
  if (!parsed.success) return [];
  return parsed.output.messages.flatMap(({ role, content, timestamp }) =>
    content.flatMap((block) => ofBlock(block, role, timestamp ?? occurred_at)),
  );
}

const StepData = v.object({
  state: v.optional(v.string()),
  duration_ms: v.optional(v.number()),
  is_error: v.optional(v.boolean()),
  detail: v.optional(v.string()),
  message: v.optional(v.string()),
  filepath: v.optional(v.string()),
  title: v.optional(v.string()),
  url: v.optional(v.string()),
});

/** A move is told by the state that it leads to, anything else by its name. */
function step(type: string, at: string, data: unknown): DisplayEvent {
  const parsed = v.safeParse(StepData, data);
  const { state, duration_ms, is_error = false, ...said } = parsed.success ? parsed.output : {};
  const name = state !== undefined && type.startsWith("run_") ? undefined : type.replaceAll("_", " ");
  const detail = said.detail ?? said.message ?? said.filepath ?? said.title ?? said.url;
  return { kind: "step", at, state, name, durationMs: duration_ms, detail, failed: is_error };
}

/** Blocks of kinds that this version does not know have nothing to show. */
const Block = v.variant("type", [
  v.object({ type: v.literal("text"), text: v.string() }),
  v.object({ type: v.literal("action"), name: v.string(), input: v.unknown() }),
  v.object({ type: v.literal("action_result"), state: v.string(), output: v.unknown() }),
]);
const Messages = v.object({
  messages: v.array(v.object({ role: v.string(), content: v.array(v.unknown()), timestamp: v.optional(v.string()) })),
});

function ofBlock(given: unknown, role: string, at: string): DisplayEvent[] {
  const parsed = v.safeParse(Block, given);
  if (!parsed.success) return [];
  const block = parsed.output;
  switch (block.type) {
    case "text":
      return role === "assistant" ? [{ kind: "text", at, text: block.text }] : [];
    case "action": {
      const input = v.safeParse(v.object({ command: v.string() }), block.input);
      return [{ kind: "command", at, text: input.success ? input.output.command : block.name, shell: input.success }];
    }
    case "action_result":
      return [{ kind: "result", at, ...resultOf(block.state, block.output) }];
  }
}

const Output = v.object({
  exit_code: v.optional(v.nullable(v.number())),
  output: v.optional(v.string()),
  stdout: v.optional(v.string()),
  stderr: v.optional(v.string()),
});

function resultOf(state: string, output: unknown): { said: string; failed: boolean; output: string } {
  const failed = state !== "completed";
  if (typeof output === "string") return { said: state, failed, output };
  const parsed = v.safeParse(Output, output);
  const { exit_code, ...texts } = parsed.success ? parsed.output : {};
  const said = exit_code === undefined || exit_code === null ? state : `exit ${exit_code}`;
  return { said, failed, output: [texts.output, texts.stdout, texts.stderr].filter(Boolean).join("\n") };
}
