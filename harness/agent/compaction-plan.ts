import { type Compaction, findCompaction } from "#shared/wire/compaction.ts";
import type { Message } from "#shared/wire/conversation.ts";

/** The part of the context window that the latest messages may take after a summary. */
const KEPT_SHARE = 0.25;
/** The most bytes of each input and output of a tool, where the latest messages alone are too long. */
const SHORTENED_BYTES = [8_192, 2_048, 512, 128];
const MAX_FILES = 200;
/** Characters of one token, assumed to be few so that an estimate is rather too high. */
export const CHARACTERS_PER_TOKEN = 3;

/** The next summary of a conversation: the part of it that has to be summarized, and what is recorded besides the summary. */
export interface CompactionPlan {
  /** The summary so far. */
  readonly previous: string;
  readonly messages: readonly Message[];
  /** Messages are summarized up to this position. */
  readonly until: number;
  readonly toolBytes?: number;
}

export interface PlanOptions {
  /** The context window in tokens. */
  readonly window: number;
  /** Whether the conversation does not fit now, so that something must be left out. */
  readonly isUrgent: boolean;
}

/** Plans the next summary. Returns undefined if nothing can be left out. */
export function planCompaction(
  conversation: readonly Message[],
  { window, isUrgent }: PlanOptions,
): CompactionPlan | undefined {
  const latest = findCompaction(conversation);
  const { from = 0, summary: previous = "" } = latest ?? {};
  const tail = conversation.slice(from);
  const sizes = tail.map(countTokens);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const room = isUrgent ? Math.min(window * KEPT_SHARE, total / 2) : window * KEPT_SHARE;
  if (!isUrgent && total <= room) return undefined;
  const boundaries = listBoundaries(tail);
  const fits = boundaries.find((at) => sizes.slice(at).reduce((sum, size) => sum + size, 0) <= room);
  const cut = fits ?? boundaries.at(-1);
  if (cut !== undefined) return { previous, messages: tail.slice(0, cut), until: from + cut };
  const toolBytes = SHORTENED_BYTES.find((bytes) => bytes < (latest?.tool_bytes ?? Number.POSITIVE_INFINITY));
  const canShorten = isUrgent && conversation.length > 0;
  return canShorten && toolBytes !== undefined ? { previous, messages: [], until: from, toolBytes } : undefined;
}

/** Cuts a plan so that it covers fewer messages; undefined if it has a single step. */
export function shortenPlan(plan: CompactionPlan): CompactionPlan | undefined {
  const boundaries = listBoundaries(plan.messages);
  const cut = boundaries[Math.floor((boundaries.length - 1) / 2)];
  if (cut === undefined) return undefined;
  return { ...plan, messages: plan.messages.slice(0, cut), until: plan.until - plan.messages.length + cut };
}

/** Positions after the first message, and before the last, at which no tool is in use. */
function listBoundaries(messages: readonly Message[]): number[] {
  const results = new Map<string, number>();
  messages.forEach(({ content }, index) => {
    for (const block of content) if (block.type === "action_result") results.set(block.action_id, index);
  });
  const boundaries: number[] = [];
  let open = 0;
  messages.forEach(({ role, content }, index) => {
    if (index > 0 && index >= open && role === "assistant") boundaries.push(index);
    for (const block of content)
      if (block.type === "action") open = Math.max(open, (results.get(block.id) ?? index) + 1);
  });
  return boundaries;
}

const countTokens = (value: unknown): number => Math.ceil(JSON.stringify(value).length / CHARACTERS_PER_TOKEN);

/** The members of the event that code takes from the steps, word for word. */
export function collectFacts(
  conversation: readonly Message[],
  { messages }: CompactionPlan,
): Pick<Compaction, "files" | "todo" | "skills"> {
  const latest = findCompaction(conversation);
  const done = new Set<string>();
  const blocks = messages.flatMap(({ content }) => content);
  for (const block of blocks)
    if (block.type === "action_result" && block.state === "completed") done.add(block.action_id);
  const actions = blocks.filter((block) => block.type === "action").filter(({ id }) => done.has(id));
  const edited = actions.filter(({ name }) => name === "edit_files").flatMap(({ input }) => readPaths(input));
  const files = [...new Set([...(latest?.files ?? []), ...edited])].slice(-MAX_FILES);
  const list = actions.findLast(({ name }) => name === "todo");
  const todo = list === undefined ? latest?.todo : formatTodo(list.input);
  const read = actions.filter(({ name }) => name === "load_skill").flatMap(({ input }) => readId(input));
  const skills = [...new Set([...(latest?.skills ?? []), ...read])];
  return { files, ...(todo === undefined ? {} : { todo }), ...(skills.length === 0 ? {} : { skills }) };
}

function readId(input: unknown): string[] {
  const { id }: { id?: unknown } = Object(input);
  return typeof id === "string" ? [id] : [];
}

function readPaths(input: unknown): string[] {
  return readItems(input, "edits").flatMap((edit) =>
    typeof edit === "object" && edit !== null && "path" in edit && typeof edit.path === "string" ? [edit.path] : [],
  );
}

function formatTodo(input: unknown): string {
  const lines = readItems(input, "items").map((item) => {
    const { task, state }: { task?: unknown; state?: unknown } = Object(item);
    return `- [${state === "done" ? "x" : " "}] ${String(task)}${state === "in_progress" ? " (in progress)" : ""}`;
  });
  return lines.join("\n");
}

function readItems(input: unknown, name: string): readonly unknown[] {
  const items: unknown =
    typeof input === "object" && input !== null ? Object.entries(input).find(([key]) => key === name)?.[1] : [];
  return Array.isArray(items) ? items : [];
}
