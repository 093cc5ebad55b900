import * as v from "valibot";
import type { Message } from "#shared/wire/conversation.ts";
import type { StepDiff } from "../../engine/tool.ts";
import type { Redactor } from "../../redaction/redactor.ts";
import { createSnippetDiff } from "../../steps/diff.ts";
import { cutBytes, toWellFormed } from "../../support/text-limits.ts";
import { MAX_OPEN_ACTIONS, type MessageRecorder, type ToolActivity, type ToolNames } from "../message-recorder.ts";

const Text = v.looseObject({ type: v.literal("text"), text: v.string() });
const Diff = v.looseObject({
  type: v.literal("diff"),
  path: v.string(),
  oldText: v.nullish(v.string()),
  newText: v.string(),
});
const Content = v.looseObject({ type: v.literal("content"), content: Text });
const Call = {
  toolCallId: v.pipe(v.string(), v.maxLength(512)),
  title: v.nullish(v.string()),
  kind: v.nullish(v.string()),
  status: v.nullish(v.string()),
  rawInput: v.optional(v.unknown()),
  rawOutput: v.optional(v.unknown()),
  content: v.nullish(v.array(v.unknown())),
  locations: v.nullish(v.array(v.unknown())),
};
const Entry = v.looseObject({ content: v.string(), status: v.optional(v.string()) });

/** The updates that the conversation shows. Agents send others, such as their commands and modes. */
const Update = v.variant("sessionUpdate", [
  v.looseObject({ sessionUpdate: v.literal("agent_message_chunk"), content: Text }),
  v.looseObject({ sessionUpdate: v.literal("agent_thought_chunk"), content: Text }),
  v.object({ sessionUpdate: v.literal("tool_call"), ...Call }),
  v.object({ sessionUpdate: v.literal("tool_call_update"), ...Call }),
  v.looseObject({ sessionUpdate: v.literal("plan"), entries: v.array(Entry) }),
]);
type Update = v.InferOutput<typeof Update>;
type CallUpdate = Extract<Update, { readonly toolCallId: string }>;

export const UpdateParams = v.looseObject({ sessionId: v.string(), update: v.unknown() });

/** The most of a thought that the conversation keeps. */
const THOUGHT_BYTES = 16 * 1024;
/** The most of a thought that is read, before secrets are redacted. */
const MAX_THOUGHT_CHARACTERS = 4 * THOUGHT_BYTES;
/** The largest member of a call that is kept until the call ends. */
const MAX_MEMBER_CHARACTERS = 512 * 1024;
/** The most calls, plans and thoughts that one turn may have. */
export const MAX_RECORDS = 5_000;
/** Names of the conversation by the kind of a call. */
const KINDS: ToolNames = {
  read: { category: "files", name: "read_files" },
  edit: { category: "files", name: "edit_files" },
  delete: { category: "files", name: "edit_files" },
  move: { category: "files", name: "edit_files" },
  search: { category: "search", name: "search_files" },
  execute: { category: "command", name: "run_command" },
  fetch: { category: "search", name: "web_fetch" },
};

export interface UpdateOptions {
  readonly recorder: MessageRecorder;
  readonly send: (message: Message) => void;
  readonly redactor: Pick<Redactor, "text">;
  /** Called once if the turn has more calls, plans and thoughts than it may; later updates are not recorded. */
  readonly onExceeded: () => void;
}

interface OpenCall {
  readonly call: CallUpdate;
  /** Whether its action has been recorded. */
  readonly isBegun: boolean;
}

/** Records the updates of a session as messages of the conversation. */
export function createUpdateReader({ recorder, send, redactor, onExceeded }: UpdateOptions) {
  const calls = new Map<string, OpenCall>();
  let thought = "";
  let plan = "";
  let records = 0;

  const count = () => {
    records += 1;
    if (records === MAX_RECORDS + 1) onExceeded();
  };
  const begin = (call: CallUpdate) => {
    count();
    recorder.action(call.toolCallId, toActivity(call));
  };
  const showPlan = (entries: readonly v.InferOutput<typeof Entry>[]) => {
    const items = entries.map(({ content, status }) => ({ task: content, state: STATES[status ?? ""] ?? "pending" }));
    // Some agents send their plan with each change of anything.
    if (plan === JSON.stringify(items)) return;
    plan = JSON.stringify(items);
    count();
    recorder.action("plan", { category: "documents", name: "todo", input: { items } });
    recorder.result("plan", "completed", {});
  };

  const endThought = () => {
    const text = cutBytes(toWellFormed(redactor.text(thought)), THOUGHT_BYTES).trim();
    thought = "";
    if (text === "") return;
    count();
    send({ role: "assistant", content: [{ type: "event", name: "agent_thought", data: { text } }] });
  };
  const update = (change: CallUpdate) => {
    const { toolCallId: id, sessionUpdate } = change;
    const open = calls.get(id);
    // An absent member is as it was.
    const members = Object.entries(change).filter(([, value]) => value !== null && value !== undefined);
    const merge = (changed: typeof members): CallUpdate => ({
      ...{ sessionUpdate, toolCallId: id },
      ...open?.call,
      ...Object.fromEntries(changed),
    });
    const call = merge(members);
    const { status } = call;
    // A call whose input still arrives is recorded when it begins.
    const isBegun = open?.isBegun === true || status !== "pending" || hasInput(call);
    if (isBegun && open?.isBegun !== true) begin(call);
    calls.delete(id);
    if (status === "completed" || status === "failed") return recorder.result(id, status, toOutput(call), toDiff(call));
    calls.set(id, { call: merge(members.filter(isHeld)), isBegun });
    const [oldest] = calls.values();
    if (calls.size > MAX_OPEN_ACTIONS && oldest !== undefined) interrupt(oldest);
  };
  const interrupt = ({ call, isBegun }: OpenCall) => {
    const { toolCallId: id } = call;
    if (!isBegun) begin(call);
    calls.delete(id);
    recorder.result(id, "failed", { interrupted: true });
  };
  return {
    read(sent: unknown): void {
      const parsed = v.safeParse(Update, sent);
      if (!parsed.success || records > MAX_RECORDS) return;
      const { output } = parsed;
      if (output.sessionUpdate === "agent_thought_chunk") {
        if (thought.length < MAX_THOUGHT_CHARACTERS) thought += output.content.text;
        return;
      }
      endThought();
      if (output.sessionUpdate === "agent_message_chunk") recorder.more(output.content.text);
      else if (output.sessionUpdate === "plan") showPlan(output.entries);
      else update(output);
    },
    /** Records what was open when the turn ended. */
    end(): void {
      endThought();
      for (const open of calls.values()) interrupt(open);
    },
  };
}

const isHeld = ([, value]: readonly [string, unknown]): boolean =>
  JSON.stringify(value).length <= MAX_MEMBER_CHARACTERS;

const STATES: Readonly<Record<string, string>> = { in_progress: "in_progress", completed: "done" };

/** Whether a call that waits has its input. Agents announce calls with an empty one, or with a part of it. */
function hasInput({ kind, rawInput }: CallUpdate): boolean {
  if (KINDS[kind ?? ""]?.name === "run_command") return hasCommand(rawInput);
  return typeof rawInput === "object" ? Object.keys(rawInput ?? {}).length > 0 : rawInput !== undefined;
}

const hasCommand = (input: unknown): boolean =>
  typeof input === "object" && input !== null && "command" in input && typeof input.command === "string";

function toActivity({ kind, title, rawInput, locations }: CallUpdate): ToolActivity {
  const known = KINDS[kind ?? ""];
  const input = rawInput ?? { ...(locations === undefined || locations === null ? {} : { locations }) };
  const isCommand = known?.name === "run_command";
  if (isCommand && !hasCommand(input)) return { ...known, input: { command: title ?? "", input } };
  return { ...(known ?? { category: "integration", name: title ?? kind ?? "tool" }), input };
}

function toOutput({ content, rawOutput }: CallUpdate): Record<string, unknown> {
  const texts = (content ?? []).flatMap((part) => {
    const parsed = v.safeParse(Content, part);
    return parsed.success ? [parsed.output.content.text] : [];
  });
  if (texts.length > 0) return { text: texts.join("\n") };
  return rawOutput === undefined || rawOutput === null ? {} : { result: rawOutput };
}

/** The changes of a call as one diff. */
function toDiff({ content }: CallUpdate): StepDiff | undefined {
  const diffs = (content ?? []).flatMap((part) => {
    const parsed = v.safeParse(Diff, part);
    const diff = parsed.success
      ? createSnippetDiff(parsed.output.path, parsed.output.oldText ?? "", parsed.output.newText)
      : undefined;
    return diff === undefined ? [] : [diff];
  });
  if (diffs.length === 0) return undefined;
  const sum = (count: (diff: StepDiff) => number) => diffs.reduce((total, diff) => total + count(diff), 0);
  return {
    text: diffs.map(({ text }) => text).join("\n"),
    added: sum(({ added }) => added),
    removed: sum(({ removed }) => removed),
  };
}
