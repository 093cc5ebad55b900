import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";

const CIPHER = "aes-256-gcm";
const VERSION = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEADER_BYTES = 1 + NONCE_BYTES + TAG_BYTES;

/**
 * Encrypts a text. The result is a version byte, the nonce, the authentication tag and the ciphertext. `name` is
 * authenticated, so that a ciphertext cannot be moved to another name.
 */
export function seal(key: Uint8Array, name: string, text: string): Uint8Array {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(name));
  const encrypted = [cipher.update(text, "utf8"), cipher.final()];
  return Buffer.concat([Buffer.of(VERSION), nonce, cipher.getAuthTag(), ...encrypted]);
}

/** Decrypts a text. @throws if it was modified, or encrypted with another key or name */
export function unseal(key: Uint8Array, name: string, sealed: Uint8Array): string {
  if (sealed[0] !== VERSION || sealed.length < HEADER_BYTES)
    throw new Error("the encrypted text has an unknown version");
  const nonce = sealed.subarray(1, 1 + NONCE_BYTES);
  const tag = sealed.subarray(1 + NONCE_BYTES, HEADER_BYTES);
  const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES })
    .setAAD(Buffer.from(name))
    .setAuthTag(tag);
  return Buffer.concat([decipher.update(sealed.subarray(HEADER_BYTES)), decipher.final()]).toString();
}
