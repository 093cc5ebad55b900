import { createHash } from "node:crypto";
import path from "node:path";

/** The limit of S3. */
const MAX_KEY_BYTES = 1024;
/** Below the usual limits of file systems: 255 bytes for a name, 4,096 for a path. */
const MAX_NAME = 200;
const MAX_PATH = 2_000;

/**
 * Converts a key to a relative path. Each part of the key becomes one file name: lower-case letters, digits and `_-.` are
 * kept, every other byte becomes `%xx`. So a key cannot leave the directory, and different keys have different paths, also
 * on file systems that ignore case. Directory names end with `+`, so that the keys `a` and `a/b` can coexist. Names that
 * are too long are replaced by their digest.
 * @throws RangeError if S3 would not accept the key
 */
export function keyToPath(key: string): string {
  const bytes = Buffer.byteLength(key);
  if (bytes === 0 || bytes > MAX_KEY_BYTES) throw new RangeError(`a key has 1 to ${MAX_KEY_BYTES} bytes`);
  const names = key.split("/").map(toName);
  const whole = names.map((name, index) => (index < names.length - 1 ? toDirectoryName(name) : name)).join(path.sep);
  return whole.length > MAX_PATH ? path.join("%long+", digest(key)) : whole;
}

/** Returns the directory of the keys with a prefix that ends with `/`. */
export const prefixToPath = (prefix: string): string => path.dirname(keyToPath(`${prefix}-`));

/** Returns the name of the directory for a part of keys that is a file name as it is. */
export const toDirectoryName = (name: string): string => `${name}+`;

function toName(part: string): string {
  if (part === "") return "%";
  const name = [...Buffer.from(part)].map(toCharacters).join("");
  // `.` and `..` are directories.
  if (/^\.+$/.test(name)) return name.replaceAll(".", "%2e");
  return name.length > MAX_NAME ? `%-${digest(part)}` : name;
}

function toCharacters(byte: number): string {
  const character = String.fromCharCode(byte);
  return /[a-z0-9_.-]/.test(character) ? character : `%${byte.toString(16).padStart(2, "0")}`;
}

const digest = (text: string): string => createHash("sha256").update(text).digest("hex");

/** Returns the key of a path that `keyToPath` made; undefined if a name in it is a digest, from which no key can be found. */
export function pathToKey(file: string): string | undefined {
  const names = file.split(path.sep);
  if (names.some((name) => name.startsWith("%-") || name === "%long+")) return undefined;
  return names.map((name, index) => toPart(index < names.length - 1 ? name.slice(0, -1) : name)).join("/");
}

function toPart(name: string): string {
  if (name === "%") return "";
  const bytes = name.replace(/%([0-9a-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, "latin1").toString("utf8");
}
