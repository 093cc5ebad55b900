import type { LiveFrame } from "../../clients/typescript/src/index.ts";

/** How far each stream of live output is known, in bytes of UTF-8. A reconnection sends the end of each stream again. */
export type LiveEnds = ReadonlyMap<string, number>;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export const toStreamKey = (stream: string, id: string): string => `${stream} ${id}`;

/** Returns the part of a frame's text that is not known yet, and notes it as known. */
export function takeNewText(
  ends: Map<string, number>,
  { stream, action_id, message_id, offset, text }: LiveFrame,
): string {
  const key = toStreamKey(stream, action_id ?? message_id ?? "");
  const bytes = encoder.encode(text);
  const known = (ends.get(key) ?? 0) - offset;
  if (known >= bytes.length) return "";
  ends.set(key, offset + bytes.length);
  return known <= 0 ? text : decoder.decode(bytes.subarray(known));
}
