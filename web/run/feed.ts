import * as v from "valibot";
import type { LiveFrame, RunEvent } from "../../clients/typescript/src/index.ts";
import { type LiveEnds, takeNewText, toStreamKey } from "./live-ends.ts";
import { readText } from "./members.ts";

const Base = { message_id: v.optional(v.string()) };
const Block = v.variant("type", [
  v.object({ type: v.literal("text"), text: v.string(), ...Base }),
  v.object({
    type: v.literal("action"),
    id: v.string(),
    category: v.string(),
    name: v.string(),
    title: v.optional(v.string()),
    input: v.unknown(),
  }),
  v.object({
    type: v.literal("action_result"),
    action_id: v.string(),
    category: v.string(),
    name: v.string(),
    state: v.string(),
    title: v.optional(v.string()),
    summary: v.optional(v.string()),
    diff: v.optional(v.string()),
    output: v.unknown(),
  }),
  v.object({ type: v.literal("event"), name: v.string(), data: v.unknown() }),
]);
type Block = v.InferOutput<typeof Block>;
const Message = v.object({ role: v.string(), content: v.array(v.unknown()), timestamp: v.optional(v.string()) });
const Messages = v.object({ messages: v.array(v.unknown()) });

export interface TextEntry {
  readonly kind: "text";
  readonly key: string;
  readonly at: string;
  readonly role: string;
  readonly text: string;
}
export interface ActionEntry {
  readonly kind: "action";
  readonly key: string;
  readonly at: string;
  readonly id: string;
  readonly name: string;
  readonly category: string;
  readonly title: string | undefined;
  readonly input: unknown;
  readonly endedAt: string | undefined;
  /** `running` until there is a result; `lost` if its execution ended without one. */
  readonly state: string;
  readonly summary: string | undefined;
  /** The change of files, as a unified diff. */
  readonly diff: string | undefined;
  readonly output: unknown;
  readonly live: string;
}
/** An event of the run that belongs between the messages, such as a follow-up or a lost execution. */
export interface MarkEntry {
  readonly kind: "mark";
  readonly key: string;
  readonly at: string;
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}
export type Entry = TextEntry | ActionEntry | MarkEntry;

export interface Feed {
  /** The messages, actions and marks of the conversation, in order. */
  readonly entries: readonly Entry[];
  /** The timeline: all events but messages. */
  readonly events: readonly RunEvent[];
  /** The sequence number of the last event. */
  readonly last: number;
  readonly liveEnds: LiveEnds;
}

export const emptyFeed: Feed = { entries: [], events: [], last: 0, liveEnds: new Map() };

/** A feed that is being changed. */
interface Draft {
  readonly entries: Entry[];
  /** Where actions are in the entries, by id. */
  readonly positions: Map<string, number>;
  /** What the model is writing, by the entry's key. It comes after the entries. */
  readonly liveTexts: Map<string, Entry>;
  readonly liveEnds: Map<string, number>;
}

/** The events that are shown between messages. The others are in the timeline only. */
const MARKS: ReadonlySet<string> = new Set([
  "execution_lost",
  "model_retry",
  "run_blocked",
  "run_cancelled",
  "run_failed",
  "run_errored",
  "user_notified",
]);
/** After these, what still runs will have no result, and what the model was writing will not be completed. */
const ENDS: ReadonlySet<string> = new Set([
  "execution_lost",
  "run_queued",
  "run_cancelled",
  "run_failed",
  "run_errored",
  "run_stopped",
  "run_succeeded",
]);

/** Adds events to a feed. Events that are in it already are ignored. */
export function addEvents(feed: Feed, events: readonly RunEvent[]): Feed {
  const fresh = events.filter(({ sequence }) => sequence > feed.last);
  if (fresh.length === 0) return feed;
  const entries = feed.entries.filter((entry) => !isLiveText(entry));
  const liveTexts = new Map(feed.entries.filter(isLiveText).map((entry) => [entry.key, entry]));
  const positions = new Map<string, number>();
  const draft: Draft = { entries, positions, liveTexts, liveEnds: new Map(feed.liveEnds) };
  entries.forEach((entry, index) => {
    if (entry.kind === "action") positions.set(entry.id, index);
  });
  for (const event of fresh) {
    if (event.type === "messages") addMessages(draft, event);
    else if (addSetup(draft, event)) continue;
    else if (MARKS.has(event.type)) {
      entries.push({
        kind: "mark",
        key: `e${event.sequence}`,
        at: event.occurred_at,
        type: event.type,
        data: event.data,
      });
    }
    if (ENDS.has(event.type)) settle(draft);
  }
  return {
    entries: [...entries, ...liveTexts.values()],
    events: [...feed.events, ...fresh.filter(({ type }) => type !== "messages")],
    last: fresh.at(-1)?.sequence ?? feed.last,
    liveEnds: draft.liveEnds,
  };
}

const MAX_LIVE = 64 * 1024;

/** Adds the new part of live output to the actions and messages that have no final event yet. */
export function addLiveFrames(feed: Feed, frames: readonly LiveFrame[]): Feed {
  if (frames.length === 0) return feed;
  const entries = [...feed.entries];
  const liveEnds = new Map(feed.liveEnds);
  for (const frame of frames) {
    const { action_id: id, message_id } = frame;
    const key = `${LIVE}${message_id ?? ""}`;
    const index = entries.findLastIndex((entry) => (entry.kind === "action" ? entry.id === id : entry.key === key));
    const entry = entries[index];
    const takesOutput = entry?.kind === "action" ? entry.state === "running" : message_id !== undefined;
    const text = takesOutput ? takeNewText(liveEnds, frame) : "";
    if (text === "") continue;
    if (entry?.kind === "action") {
      entries[index] = { ...entry, live: (entry.live + text).slice(-MAX_LIVE) };
    } else if (entry?.kind === "text") {
      entries[index] = { ...entry, text: (entry.text + text).slice(-MAX_LIVE) };
    } else {
      entries.push({ kind: "text", key, at: new Date().toISOString(), role: "assistant", text });
    }
  }
  return { ...feed, entries, liveEnds };
}

/** The session that a third-party agent continues, and the end of each turn, which say nothing to people. */
const SILENT: ReadonlySet<string> = new Set(["acp_session", "turn_ended"]);

/** Keys of messages that the model is still writing begin like this. */
const LIVE = "live-";

const isLiveText = ({ key }: Entry): boolean => key.startsWith(LIVE);

function addMessages(draft: Draft, { sequence, occurred_at, data }: RunEvent): void {
  const batch = v.safeParse(Messages, data);
  if (!batch.success) return;
  batch.output.messages.forEach((given, number) => {
    const message = v.safeParse(Message, given);
    if (!message.success) return;
    const { role, content, timestamp: at = occurred_at } = message.output;
    content.forEach((part, place) => {
      const block = v.safeParse(Block, part);
      if (block.success) addBlock(draft, block.output, { role, at, key: `m${sequence}-${number}-${place}` });
    });
  });
}

const Setup = v.object({
  action_id: v.string(),
  detail: v.optional(v.string(), ""),
  is_error: v.optional(v.boolean(), false),
  duration_ms: v.optional(v.number()),
  output: v.optional(v.string(), ""),
});

/** Shows a setup command as commands of the agent are shown. One that ended at once, without output, is in the timeline only. */
function addSetup(draft: Draft, { type, data, occurred_at: at, sequence }: RunEvent): boolean {
  if (type !== "setup_started" && type !== "setup_commands") return false;
  const setup = v.safeParse(Setup, data);
  if (!setup.success) return false;
  const { action_id: id, detail, is_error, duration_ms, output } = setup.output;
  const place = { role: "assistant", at, key: `e${sequence}` };
  const common = { category: "command", name: "run_command", title: `Setup: ${detail.split("\n")[0] ?? ""}` };
  if (type === "setup_started") {
    addBlock(draft, { ...common, type: "action", id, input: undefined }, place);
  } else if (draft.positions.has(id) || output !== "") {
    const state = is_error ? "failed" : "completed";
    const result = { stdout: output, ...(duration_ms === undefined ? {} : { duration_ms }) };
    addBlock(draft, { ...common, type: "action_result", action_id: id, state, output: result }, place);
  }
  return true;
}

interface Place {
  readonly role: string;
  readonly at: string;
  readonly key: string;
}

function addBlock(draft: Draft, block: Block, { role, at, key }: Place): void {
  const { entries, positions, liveEnds } = draft;
  if (block.type === "text") {
    if (role === "assistant") endLiveText(draft, block.message_id);
    const text = block.text.trim();
    if (text !== "" && text !== questionOf(entries.at(-1)))
      entries.push({ kind: "text", key, at, role, text: block.text });
  } else if (block.type === "event") {
    if (!SILENT.has(block.name)) entries.push({ kind: "mark", key, at, type: block.name, data: { data: block.data } });
  } else if (block.type === "action") {
    const { id, name, category, title, input } = block;
    if (name === "notify_user") dropNotice(entries, positions, readText(input, "message"));
    positions.set(id, entries.length);
    for (const stream of ["stdout", "stderr"]) liveEnds.delete(toStreamKey(stream, id));
    const none = {
      endedAt: undefined,
      state: "running",
      summary: undefined,
      diff: undefined,
      output: undefined,
      live: "",
    };
    entries.push({ kind: "action", key: `a${id}`, at, id, name, category, title, input, ...none });
  } else {
    const { action_id: id, name, category, title, state, summary, diff, output } = block;
    const index = positions.get(id);
    const action = index === undefined ? undefined : entries[index];
    const result = { endedAt: at, state, summary, diff, output, live: "" };
    if (index !== undefined && action?.kind === "action") entries[index] = { ...action, ...result };
    else entries.push({ kind: "action", key, at, id, name, category, title, input: undefined, ...result });
  }
}

/** The final message of the model replaces what it was writing: the text with the same id, or, without an id, any text. */
function endLiveText({ liveTexts, liveEnds }: Draft, id: string | undefined): void {
  if (id === undefined) liveTexts.clear();
  else {
    liveTexts.delete(`${LIVE}${id}`);
    liveEnds.set(toStreamKey("text", id), Infinity);
  }
}

/** The question of an entry that asks the user. The final message of the turn repeats it. */
export function questionOf(entry: Entry | undefined): string | undefined {
  if (entry?.kind !== "action" || entry.name !== "ask_user") return undefined;
  return readText(entry.input, "question")?.trim();
}

/** A notice comes as an event, and then as an action, which takes its place. */
function dropNotice(entries: Entry[], positions: Map<string, number>, message: string | undefined): void {
  const index = entries.findLastIndex(
    (entry) => entry.kind === "mark" && entry.type === "user_notified" && entry.data["message"] === message,
  );
  if (index < 0 || message === undefined) return;
  entries.splice(index, 1);
  for (const [id, position] of positions) if (position > index) positions.set(id, position - 1);
}

function settle({ entries, liveTexts }: Draft): void {
  liveTexts.clear();
  entries.forEach((entry, index) => {
    if (entry.kind === "action" && entry.state === "running") entries[index] = { ...entry, state: "lost" };
  });
}
