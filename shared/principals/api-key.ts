import { randomInt } from "node:crypto";
import { crc32 } from "node:zlib";
import { sha256 } from "#shared/ids.ts";

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const RANDOM_LENGTH = 37;
const CHECKSUM_LENGTH = 6;
const RUN_ID_LENGTH = 22;

export type KeyKind = "personal" | "agent" | "run";
const PREFIXES = { personal: "ryp_", agent: "rya_", run: "ryr_" } as const satisfies Record<KeyKind, string>;

/** A well-formed key. Whether it is valid is decided by the table. */
export type ParsedKey =
  | { readonly kind: "personal" | "agent"; readonly hash: string }
  | { readonly kind: "run"; readonly hash: string; readonly runId: string };

/** A new personal or agent key: 37 random base62 characters and 6 of CRC-32 over them. */
export function newKey(kind: "personal" | "agent"): string {
  return seal(PREFIXES[kind], randomBase62(RANDOM_LENGTH));
}

/** The personal or agent key that 32 secret bytes make: the same bytes make the same key. */
export function toKey(kind: "personal" | "agent", secret: Uint8Array): string {
  const digits = toBase62(BigInt(`0x${Buffer.from(secret).toString("hex")}`)).padStart(RANDOM_LENGTH, "0");
  return seal(PREFIXES[kind], digits.slice(-RANDOM_LENGTH));
}

/** A new key of one execution: the run's id (22 characters) and 15 random ones (89 bits), so that one read finds the run. */
export function newRunKey(runId: string): string {
  const id = toBase62(BigInt(`0x${runId.replaceAll("-", "")}`)).padStart(RUN_ID_LENGTH, "0");
  return seal(PREFIXES.run, id + randomBase62(RANDOM_LENGTH - RUN_ID_LENGTH));
}

/** Undefined where the form or the checksum is wrong, which saves a read. */
export function parseKey(key: string): ParsedKey | undefined {
  const match = /^(ryp_|rya_|ryr_)([0-9A-Za-z]{37})([0-9A-Za-z]{6})$/.exec(key);
  const [, prefix, random, checksum] = match ?? [];
  if (prefix === undefined || random === undefined || checksum !== computeChecksum(random)) return undefined;
  if (prefix === PREFIXES.run) {
    const hex = fromBase62(random.slice(0, RUN_ID_LENGTH)).toString(16).padStart(32, "0");
    if (hex.length > 32) return undefined;
    const runId = hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
    return { kind: "run", hash: hashKey(key), runId };
  }
  return { kind: prefix === PREFIXES.agent ? "agent" : "personal", hash: hashKey(key) };
}

/** The form in which keys are stored. */
export const hashKey = (key: string): string => sha256(key);

const seal = (prefix: string, random: string): string => prefix + random + computeChecksum(random);
const computeChecksum = (random: string): string => toBase62(BigInt(crc32(random))).padStart(CHECKSUM_LENGTH, "0");

function randomBase62(length: number): string {
  return Array.from({ length }, () => ALPHABET.charAt(randomInt(ALPHABET.length))).join("");
}

function toBase62(value: bigint): string {
  let rest = value;
  let digits = "";
  for (; rest > 0n; rest /= 62n) digits = ALPHABET.charAt(Number(rest % 62n)) + digits;
  return digits;
}

function fromBase62(digits: string): bigint {
  return [...digits].reduce((value, digit) => value * 62n + BigInt(ALPHABET.indexOf(digit)), 0n);
}
