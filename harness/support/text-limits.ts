/** Cuts a text to at most this many bytes of UTF-8, never within a character. */
export function cutBytes(text: string, bytes: number): string {
  const buffer = Buffer.from(text);
  if (buffer.length <= bytes) return text;
  // The first byte of a text continues no character.
  let end = Math.max(0, bytes);
  while (isContinuation(buffer[end])) end--;
  return buffer.toString("utf8", 0, end);
}

/** Replaces what the API refuses in JSON: NUL characters and lone surrogates. */
export function toWellFormed(text: string): string {
  return text.replaceAll("\0", "\ufffd").toWellFormed();
}

/** Cuts the beginning of a text so that at most this many bytes of UTF-8 are left, never within a character. */
export function cutBytesFromEnd(text: string, bytes: number): string {
  const buffer = Buffer.from(text);
  let start = Math.max(0, buffer.length - bytes);
  while (isContinuation(buffer[start])) start++;
  return buffer.toString("utf8", start);
}

const isContinuation = (byte = 0) => (byte & 0xc0) === 0x80;

/** Returns a function that says of one value after the other whether it fits, as JSON, into the bytes that are left. */
export function createRoom(bytes: number): (value: unknown) => boolean {
  let room = bytes;
  return (value) => {
    room -= Buffer.byteLength(JSON.stringify(value) ?? "");
    return room >= 0;
  };
}
