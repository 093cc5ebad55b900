import { createHash, randomBytes, randomUUID } from "node:crypto";

/** A UUIDv7 (RFC 9562): its first 48 bits are the milliseconds since the epoch, so that ids sort by creation. */
export function uuidv7(now: number): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(now, 0, 6);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x70;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return toUuid(bytes);
}

/** A UUIDv8 made of a digest: the same parts give the same id. */
export function deriveUuid(...parts: readonly string[]): string {
  const bytes = createHash("sha256").update(JSON.stringify(parts)).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return toUuid(bytes);
}

/** The milliseconds in the first 48 bits of a UUIDv7; 0 of anything else. */
export const createdAtOf = (id: string): number =>
  isUuid(id) ? Number.parseInt(id.replace("-", "").slice(0, 12), 16) : 0;

export const randomId = (): string => randomUUID();

export const isUuid = (value: string): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(value);

export const sha256 = (value: string | Uint8Array): string => createHash("sha256").update(value).digest("hex");

/** A number of 32 bits that is evenly distributed, whatever the ids are. */
export const digestNumber = (id: string): number => Number.parseInt(sha256(id).slice(0, 8), 16);

function toUuid(bytes: Buffer): string {
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
