import { createHash } from "node:crypto";
import path from "node:path";

/** As in S3. */
const MAX_KEY_BYTES = 1024;
/** File systems take names of 255 bytes, and paths of about 4,096 with the data directory's own. */
const MAX_NAME = 200;
const MAX_PATH = 2_000;

/**
 * The path of a key's file, relative to the directory of all files. Each part of the key becomes one name: lower-case
 * letters, digits and `_-.` stand for themselves, every other byte is `%xx`, so that no part means anything to the file
 * system, and two keys never share a path, also where upper and lower case are the same. Directories end with `+`: there
 * can be a file `a` and a file `a/b`. What is too long is named by its digest.
 * @throws RangeError for what S3 takes for no key
 */
export function keyToPath(key: string): string {
  const bytes = Buffer.byteLength(key);
  if (bytes === 0 || bytes > MAX_KEY_BYTES) throw new RangeError(`a key has 1 to ${MAX_KEY_BYTES} bytes`);
  const names = key.split("/").map(toName);
  const whole = names.map((name, index) => (index < names.length - 1 ? `${name}+` : name)).join(path.sep);
  return whole.length > MAX_PATH ? path.join("%long+", digest(key)) : whole;
}

/** The directory of the keys that begin with `prefix`, which ends with `/`. */
export const prefixToPath = (prefix: string): string => path.dirname(keyToPath(`${prefix}-`));

function toName(part: string): string {
  if (part === "") return "%";
  const name = [...Buffer.from(part)].map(toCharacters).join("");
  // Dots alone are directories to the file system.
  if (/^\.+$/.test(name)) return name.replaceAll(".", "%2e");
  return name.length > MAX_NAME ? `%-${digest(part)}` : name;
}

function toCharacters(byte: number): string {
  const character = String.fromCharCode(byte);
  return /[a-z0-9_.-]/.test(character) ? character : `%${byte.toString(16).padStart(2, "0")}`;
}

const digest = (text: string): string => createHash("sha256").update(text).digest("hex");
