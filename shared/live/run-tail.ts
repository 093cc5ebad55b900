import { LIVE_TAIL_BYTES, type LiveFrame } from "#shared/wire/event.ts";

/** Streams of a run that are kept; the one without output for the longest time is dropped. */
const MAX_STREAMS = 8;

/** The end of one stream. */
export interface StreamTail extends LiveFrame {}

/** The ends of the streams of an execution, the one with the latest output last. */
export interface RunTail {
  readonly execution_id: string;
  readonly streams: readonly StreamTail[];
}

/** Identifies a stream within a run. */
export const streamKey = ({ action_id, message_id, stream }: LiveFrame): string =>
  JSON.stringify([stream, action_id ?? null, message_id ?? null]);

/** The position after the text of a frame. */
export const getEnd = ({ offset, text }: LiveFrame): number => offset + Buffer.byteLength(text);

/** Adds frames to a tail. Frames that came before change nothing, and after a gap the tail starts with the frame. */
export function appendFrames(tail: RunTail | undefined, executionId: string, frames: readonly LiveFrame[]): RunTail {
  const streams = new Map(
    tail?.execution_id === executionId ? tail.streams.map((stream) => [streamKey(stream), stream]) : [],
  );
  for (const frame of frames) {
    const key = streamKey(frame);
    const joined = join(streams.get(key), frame);
    streams.delete(key);
    streams.set(key, joined);
  }
  return { execution_id: executionId, streams: [...streams.values()].slice(-MAX_STREAMS) };
}

/** Returns the tail without the streams of these ids, or the same tail if it has none of them. */
export function withoutStreams(tail: RunTail, ids: readonly string[]): RunTail {
  const streams = tail.streams.filter(({ action_id, message_id }) => !ids.includes(action_id ?? message_id ?? ""));
  return streams.length === tail.streams.length ? tail : { ...tail, streams };
}

function join(last: StreamTail | undefined, frame: LiveFrame): StreamTail {
  if (last === undefined || frame.offset > getEnd(last)) return keepEnd(frame);
  const fresh = cutBefore(frame, getEnd(last));
  return fresh === undefined ? last : keepEnd({ ...last, text: last.text + fresh.text });
}

/** The part of a frame from a position on; undefined if it ends before. */
export function cutBefore(frame: LiveFrame, position: number): LiveFrame | undefined {
  if (position <= frame.offset) return frame;
  const bytes = Buffer.from(frame.text);
  let start = position - frame.offset;
  if (start >= bytes.length) return undefined;
  // A position within a character, which only a broken harness sends, moves to its end.
  while (start < bytes.length && isContinuation(bytes[start])) start++;
  return start >= bytes.length
    ? undefined
    : { ...frame, offset: frame.offset + start, text: bytes.toString("utf8", start) };
}

function keepEnd(frame: LiveFrame): StreamTail {
  const bytes = Buffer.byteLength(frame.text);
  return bytes <= LIVE_TAIL_BYTES ? frame : (cutBefore(frame, frame.offset + bytes - LIVE_TAIL_BYTES) ?? frame);
}

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;
