import * as v from "valibot";
import { RUN_STATES, type RunEvent } from "../../clients/typescript/src/index.ts";
import { addEvents, type Entry, emptyFeed } from "../run/feed.ts";

const State = v.picklist(RUN_STATES);
const Step = v.object({ messages: v.array(v.unknown()), steps: v.optional(v.array(v.unknown()), []) });

/** An artifact without its URL; its content, if it has one, is downloaded by its uid. */
const PublicArtifact = v.object({
  artifact_type: v.string(),
  artifact_uid: v.optional(v.string()),
  title: v.optional(v.string()),
  description: v.optional(v.string()),
  filename: v.optional(v.string()),
  size_bytes: v.optional(v.number()),
});

/** A run as its public view shows it. */
export const PublicRun = v.object({
  title: v.string(),
  state: State,
  created_at: v.string(),
  run_time: v.optional(v.string()),
  conversation: v.optional(v.object({ steps: v.array(v.unknown()) })),
  artifacts: v.optional(v.array(PublicArtifact), []),
});
export type PublicRun = v.InferOutput<typeof PublicRun>;

const MAX_DEPTH = 10;

/** The conversation as entries, in the same form as that of a run that is followed. */
export function toEntries({ conversation, created_at: at }: PublicRun): readonly Entry[] {
  const messages = (conversation?.steps ?? []).flatMap((step) => findMessages(step, 0));
  const event: RunEvent = { sequence: 1, type: "messages", occurred_at: at, data: { messages } };
  return addEvents(emptyFeed, [event]).entries;
}

/** The messages of a step and of the work that it delegated. */
function findMessages(value: unknown, depth: number): unknown[] {
  const step = v.safeParse(Step, value);
  if (!step.success || depth > MAX_DEPTH) return [];
  return [...step.output.messages, ...step.output.steps.flatMap((one) => findMessages(one, depth + 1))];
}
