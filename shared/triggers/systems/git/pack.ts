import { createHash } from "node:crypto";
import { inflateSync } from "node:zlib";
import * as v from "valibot";
import { isUnsafeName } from "./tree-names.ts";

/** Why objects of a run are not sent to a repository. Its message names no part of them. */
export class PackRefusal extends Error {}

/** Limits of a pack: what a run commits between two pushes. */
const MAX_OBJECTS = 50_000;
const MAX_OBJECT_BYTES = 16 * 1024 * 1024;
const MAX_INFLATED_BYTES = 256 * 1024 * 1024;

const HEADER_BYTES = 12;
const DIGEST_BYTES = 20;
const TYPES = new Map([
  [1, "commit"],
  [2, "tree"],
  [3, "blob"],
  [4, "tag"],
]);

/** The parents of each commit in a pack, by the id of the commit. */
export type PackCommits = ReadonlyMap<string, readonly string[]>;

/**
 * Checks a pack that a sandbox made, and returns its commits. It reads bytes only: no git runs, so nothing that the sandbox wrote is
 * configuration, a hook or a path. Objects have to be complete, so that ids can be computed: a delta could refer to other objects.
 * @throws PackRefusal
 * @see https://git-scm.com/docs/gitformat-pack
 */
export function readPack(pack: Uint8Array): PackCommits {
  const bytes = Buffer.from(pack.buffer, pack.byteOffset, pack.byteLength);
  const end = bytes.length - DIGEST_BYTES;
  if (end < HEADER_BYTES || bytes.toString("latin1", 0, 4) !== "PACK" || bytes.readUInt32BE(4) !== 2) throw damaged();
  if (!createHash("sha1").update(bytes.subarray(0, end)).digest().equals(bytes.subarray(end))) throw damaged();
  const count = bytes.readUInt32BE(8);
  if (count > MAX_OBJECTS) throw new PackRefusal(`the commits have more than ${MAX_OBJECTS} objects`);
  const commits = new Map<string, readonly string[]>();
  let position = HEADER_BYTES;
  let inflated = 0;
  for (let index = 0; index < count; index++) {
    const { type, size, start } = readHeader(bytes, position, end);
    inflated += size;
    if (size > MAX_OBJECT_BYTES || inflated > MAX_INFLATED_BYTES) {
      throw new PackRefusal(`the commits have more than ${MAX_INFLATED_BYTES} bytes, or a file of ${MAX_OBJECT_BYTES}`);
    }
    const { content, next } = inflate(bytes.subarray(start, end), size);
    position = start + next;
    if (type === "commit") commits.set(toId(type, content), readParents(content));
    if (type === "tree") checkTree(content);
    if (type === "tag") throw new PackRefusal("the commits come with a tag, which is not pushed");
  }
  if (position !== end) throw damaged();
  return commits;
}

/** Whether `commit` has `ancestor` in its history, as far as the pack tells. */
export function isDescendant(commit: string, ancestor: string, commits: PackCommits): boolean {
  const seen = new Set<string>();
  const waiting = [commit];
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    if (id === ancestor) return true;
    if (seen.has(id)) continue;
    seen.add(id);
    // One by one, since a commit may have more parents than a call can have arguments.
    for (const parent of commits.get(id) ?? []) waiting.push(parent);
  }
  return false;
}

const damaged = (): PackRefusal => new PackRefusal("the objects of the commits are damaged");

interface ObjectHeader {
  readonly type: string;
  readonly size: number;
  /** Where the compressed content begins. */
  readonly start: number;
}

/** Reads the type and the size of an object: four bits of the size, then seven in each byte. */
function readHeader(bytes: Buffer, position: number, end: number): ObjectHeader {
  let at = position;
  const next = (): number => {
    if (at >= end) throw damaged();
    return bytes.readUInt8(at++);
  };
  let byte = next();
  const type = TYPES.get((byte >> 4) & 7);
  let size = byte & 15;
  for (let factor = 16; byte >= 128; factor *= 128) {
    byte = next();
    size += (byte & 127) * factor;
    if (size > Number.MAX_SAFE_INTEGER / 256) throw damaged();
  }
  if (type === undefined) throw damaged();
  return { type, size, start: at };
}

/** The content of a stream, and the number of bytes that it has compressed. */
const Inflated = v.object({ buffer: v.instance(Buffer), engine: v.object({ bytesWritten: v.number() }) });

/** Inflates one object, which must have exactly the size that its header says. */
function inflate(bytes: Buffer, size: number): { readonly content: Buffer; readonly next: number } {
  try {
    const result: unknown = inflateSync(bytes, { info: true, maxOutputLength: size + 1 });
    const { buffer: content, engine } = v.parse(Inflated, result);
    if (content.length === size) return { content, next: engine.bytesWritten };
  } catch {
    // Damaged, or larger than its header says.
  }
  throw damaged();
}

const toId = (type: string, content: Buffer): string =>
  createHash("sha1").update(`${type} ${content.length}\0`).update(content).digest("hex");

/** Reads the parents from the header of a commit: the lines after its tree. */
function readParents(content: Buffer): readonly string[] {
  const [tree = "", ...lines] = content.toString("latin1").split("\n\n", 1).join("").split("\n");
  if (!/^tree [0-9a-f]{40}$/.test(tree)) throw damaged();
  const end = lines.findIndex((line) => !/^parent [0-9a-f]{40}$/.test(line));
  return lines.slice(0, end === -1 ? lines.length : end).map((line) => line.slice("parent ".length));
}

/** Refuses names by which a checkout would leave its directory or change the configuration of git. */
function checkTree(content: Buffer): void {
  for (let position = 0; position < content.length; ) {
    const space = content.indexOf(0x20, position);
    const end = content.indexOf(0, position);
    if (space === -1 || end === -1 || space > end || end + 1 + DIGEST_BYTES > content.length) throw damaged();
    const mode = content.toString("latin1", position, space);
    if (!/^(?:40000|100644|100755|120000|160000)$/.test(mode)) throw damaged();
    if (isUnsafeName(content.toString("utf8", space + 1, end))) {
      throw new PackRefusal("a file of the commits has a name such as .git, which no repository can contain");
    }
    position = end + 1 + DIGEST_BYTES;
  }
}
