/** What the first bytes of a connection say. */
export type Greeting =
  /** @property missing how many bytes are missing at least, so that reading again before them is of no use */
  | { readonly kind: "incomplete"; readonly missing: number }
  | { readonly kind: "invalid" }
  /** @property name undefined if the client names no server */
  | { readonly kind: "tls"; readonly name: string | undefined };

/** The first byte of a TLS connection. */
export const TLS_HANDSHAKE = 0x16;
const CLIENT_HELLO = 1;
const SERVER_NAME = 0;
const HOST_NAME = 0;
/** A longer one is not read. */
const MAX_BYTES = 64 * 1024;

const RECORD_HEADER_BYTES = 5;
const MESSAGE_HEADER_BYTES = 4;

const INVALID = { kind: "invalid" } as const;

/** Reads the name of the server from the ClientHello of a TLS connection, which may be in several records. */
export function readServerName(bytes: Buffer): Greeting {
  const joined = joinRecords(bytes);
  if (joined === undefined) return INVALID;
  const { message, missingHeader } = joined;
  if (message.length > 0 && message[0] !== CLIENT_HELLO) return INVALID;
  const isLengthKnown = message.length >= MESSAGE_HEADER_BYTES;
  const total = MESSAGE_HEADER_BYTES + (isLengthKnown ? message.readUIntBE(1, 3) : 0);
  if (total > MAX_BYTES) return INVALID;
  if (!isLengthKnown || message.length < total) {
    const missing = total - message.length + missingHeader;
    return bytes.length + missing > MAX_BYTES ? INVALID : { kind: "incomplete", missing };
  }
  try {
    return { kind: "tls", name: findName(message.subarray(MESSAGE_HEADER_BYTES, total)) };
  } catch {
    return INVALID;
  }
}

/** Joins the contents of handshake records, and counts what is missing of the next record's header; undefined if there are other records. */
function joinRecords(bytes: Buffer): { readonly message: Buffer; readonly missingHeader: number } | undefined {
  const parts: Buffer[] = [];
  let at = 0;
  while (at + RECORD_HEADER_BYTES <= bytes.length) {
    const length = bytes.readUInt16BE(at + 3);
    if (bytes[at] !== TLS_HANDSHAKE || length === 0) return undefined;
    at += RECORD_HEADER_BYTES;
    parts.push(bytes.subarray(at, at + length));
    at += length;
  }
  const missingHeader = at > bytes.length ? 0 : at + RECORD_HEADER_BYTES - bytes.length;
  return { message: Buffer.concat(parts), missingHeader };
}

/** @throws RangeError when a length is wrong */
function findName(hello: Buffer): string | undefined {
  let at = 2 + 32;
  const skip = (lengthBytes: 1 | 2) => {
    at += lengthBytes + hello.readUIntBE(at, lengthBytes);
  };
  skip(1); // session id
  skip(2); // cipher suites
  skip(1); // compression methods
  if (at === hello.length) return undefined;
  const end = at + 2 + hello.readUInt16BE(at);
  if (end !== hello.length) throw new RangeError("the extensions have another length");
  at += 2;
  let name: string | undefined;
  while (at < end) {
    const type = hello.readUInt16BE(at);
    const length = hello.readUInt16BE(at + 2);
    const content = hello.subarray(at + 4, at + 4 + length);
    if (content.length !== length) throw new RangeError("an extension has another length");
    if (type === SERVER_NAME) {
      // With two of them, servers may not choose the same one.
      if (name !== undefined) throw new RangeError("there are two server names");
      name = parseNames(content);
    }
    at += 4 + length;
  }
  return name;
}

function parseNames(content: Buffer): string {
  const length = content.readUInt16BE(3);
  const isOnlyName = content.readUInt16BE(0) === content.length - 2 && length === content.length - 5;
  if (!isOnlyName || content[2] !== HOST_NAME) throw new RangeError("there is not one host name");
  return content.toString("latin1", 5);
}
