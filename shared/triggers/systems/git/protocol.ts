/** The name of a ref and the id of its commit. */
type Refs = ReadonlyMap<string, string>;

interface Advertisement {
  readonly refs: Refs;
  readonly capabilities: readonly string[];
}

const FLUSH = "0000";

/** Formats a line of git's protocol, which begins with its length in hexadecimal digits. */
const toLine = (text: string): string => (Buffer.byteLength(text) + 4).toString(16).padStart(4, "0") + text;

/** Splits a response into lines; undefined if it is no response of git. A flush is an empty line. */
function readLines(bytes: Buffer): string[] | undefined {
  const lines: string[] = [];
  for (let position = 0; position < bytes.length; ) {
    const digits = bytes.toString("latin1", position, position + 4);
    const length = /^[0-9a-f]{4}$/.test(digits) ? Number.parseInt(digits, 16) : -1;
    if (length !== 0 && (length < 4 || position + length > bytes.length)) return undefined;
    lines.push(bytes.toString("utf8", position + 4, position + Math.max(length, 4)).replace(/\n$/, ""));
    position += Math.max(length, 4);
  }
  return lines;
}

/**
 * Reads the refs that a server offers for pushes; undefined if the response is none of git.
 * @see https://git-scm.com/docs/http-protocol
 */
export function readAdvertisement(response: Uint8Array): Advertisement | undefined {
  const lines = readLines(Buffer.from(response));
  if (lines?.[0] !== "# service=git-receive-pack") return undefined;
  const refs = new Map<string, string>();
  let capabilities: readonly string[] = [];
  for (const line of lines.slice(1)) {
    const [ref = "", options] = line.split("\0");
    if (options !== undefined) capabilities = options.trim().split(" ");
    const [, id, name] = /^([0-9a-f]{40}) (.+)$/.exec(ref) ?? [];
    if (id !== undefined && name !== undefined) refs.set(name, id);
  }
  return { refs, capabilities };
}

interface RefUpdate {
  readonly ref: string;
  readonly from: string;
  readonly to: string;
}

/** Builds the request that updates one ref, if it still is what was read. The server refuses it otherwise. */
export const buildPush = ({ ref, from, to }: RefUpdate, pack: Uint8Array): Uint8Array =>
  Buffer.concat([Buffer.from(`${toLine(`${from} ${to} ${ref}\0report-status agent=runyard`)}${FLUSH}`), pack]);

/** Reads why a server has not updated the ref; undefined where it has. */
export function findRefusal(response: Uint8Array, ref: string): string | undefined {
  const lines = readLines(Buffer.from(response)) ?? [];
  const unpacked = lines.find((line) => line.startsWith("unpack "));
  if (unpacked !== undefined && unpacked !== "unpack ok") return unpacked.slice("unpack ".length);
  if (lines.includes(`ok ${ref}`)) return undefined;
  const refused = lines.find((line) => line.startsWith(`ng ${ref} `));
  return refused === undefined ? "the response is not as documented" : refused.slice(`ng ${ref} `.length);
}
