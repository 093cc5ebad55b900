import { hkdfSync, randomBytes } from "node:crypto";
import { closeSync, constants, fstatSync, fsyncSync, openSync, readFileSync, type Stats, writeSync } from "node:fs";
import path from "node:path";
import { syncPathNow } from "../disk/sync-path.ts";

const KEY_BYTES = 32;

/** The key file cannot be used; the message says how to resolve that. */
export class KeyFileError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = "KeyFileError";
  }
}

/**
 * Reads the installation key: 32 random bytes in a file that only the owner can read. Returns undefined if there is no file.
 * @throws KeyFileError if other users have access to the file or it is not a key file
 */
export function readKeyFile(file: string): Buffer | undefined {
  const key = readOwnerOnly(file);
  if (key === undefined || key.length === KEY_BYTES) return key;
  throw new KeyFileError(`${file} is not a key file of Runyard: it must have ${KEY_BYTES} bytes.`);
}

/** Creates a key file that does not exist yet. */
export function createKeyFile(file: string): Buffer {
  const key = randomBytes(KEY_BYTES);
  const descriptor = openSync(file, "wx", 0o600);
  try {
    writeSync(descriptor, key);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  syncPathNow(path.dirname(file));
  return key;
}

/** Derives an independent key for one purpose. */
export const deriveKey = (key: Uint8Array, purpose: string): Buffer =>
  Buffer.from(hkdfSync("sha256", key, "", `runyard ${purpose}`, KEY_BYTES));

/**
 * Reads a file that only the owner can read. Returns undefined if there is no file.
 * @throws KeyFileError if other users have access to the file
 */
export function readOwnerOnly(file: string): Buffer | undefined {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW);
    requireOwnerOnly(fstatSync(descriptor), file);
    return readFileSync(descriptor);
  } catch (error) {
    if (isCode(error, "ENOENT")) return undefined;
    throw error;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** @throws KeyFileError if other users have access to the file */
export function requireOwnerOnly({ mode }: Pick<Stats, "mode">, file: string): void {
  if ((mode & 0o077) === 0) return;
  throw new KeyFileError(`Other users can access the key file ${file}. Run: chmod 600 '${file}'`);
}

export const isCode = (error: unknown, code: string): boolean =>
  error instanceof Error && "code" in error && error.code === code;
