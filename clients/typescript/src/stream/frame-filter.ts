import type { LiveFrame, RunEvent } from "../generated/types.ts";

/** Passes each part of the live output on once, and nothing of what an event has replaced. */
export interface FrameFilter {
  /** Returns the new part of a frame, if there is one. */
  take(frame: LiveFrame): LiveFrame | undefined;
  /** Notes the actions and messages that an event completes. */
  note(event: RunEvent): void;
}

/** After a reconnection the server sends the end of each stream again, which a filter recognizes by its offset. */
export function createFrameFilter(): FrameFilter {
  const ends = new Map<string, number>();
  const finished = new Set<string>();
  const encoder = new TextEncoder();
  const decoder = new TextDecoder();
  return {
    take(frame) {
      const id = frame.action_id ?? frame.message_id ?? "";
      if (finished.has(id)) return undefined;
      const key = `${frame.stream} ${id}`;
      const end = ends.get(key) ?? 0;
      const bytes = encoder.encode(frame.text);
      const seen = end - frame.offset;
      if (seen >= bytes.length) return undefined;
      ends.set(key, frame.offset + bytes.length);
      return seen <= 0 ? frame : { ...frame, offset: end, text: decoder.decode(bytes.subarray(seen)) };
    },
    note(event) {
      for (const id of finishedIds(event)) {
        finished.add(id);
        for (const stream of ["stdout", "stderr", "text"]) ends.delete(`${stream} ${id}`);
      }
    },
  };
}

/** The ids of the actions and messages that are complete with an event. */
function finishedIds({ type, data }: Pick<RunEvent, "type" | "data">): string[] {
  const messages = type === "messages" ? data["messages"] : undefined;
  return toList(messages)
    .flatMap((message) => toList(memberOf(message, "content")))
    .flatMap((block) => {
      const id = memberOf(block, memberOf(block, "type") === "text" ? "message_id" : "action_id");
      return typeof id === "string" ? [id] : [];
    });
}

const toList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
