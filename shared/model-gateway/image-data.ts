import { invalid } from "#shared/errors.ts";
import type { Filter } from "./request-filter.ts";

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
const DATA_URL = /^data:(image\/[a-z]+);base64,/;
/** Characters of base64 that the first bytes of an image take. */
const SIGNATURE_CHARACTERS = 24;
/** The first bytes of each kind of image that the providers take. */
const SIGNATURES: Readonly<Record<string, (bytes: Buffer) => boolean>> = {
  "image/png": (bytes) => bytes.toString("latin1", 1, 4) === "PNG",
  "image/jpeg": (bytes) => bytes[0] === 0xff && bytes[1] === 0xd8,
  "image/gif": (bytes) => bytes.toString("latin1", 0, 4) === "GIF8",
  "image/webp": (bytes) => bytes.toString("latin1", 0, 4) === "RIFF" && bytes.toString("latin1", 8, 12) === "WEBP",
};

const REFERENCE = "must be data and not a reference where the run has a budget: its size is not known here";

/** The `source` of an image in Anthropic's API: base64 of an image, which counts as one whatever its size. */
export const base64Source: Filter = (value, path, notes) => {
  const { type, media_type, data }: Record<string, unknown> = Object(value);
  if (type !== "base64") throw invalid(path, REFERENCE);
  return { type, media_type, data: checkImage(media_type, data, path, notes) };
};

/** The URL of an image in OpenAI's APIs: a data URL of an image, which counts as one whatever its size. */
export const imageDataUrl: Filter = (value, path, notes) => {
  const url = typeof value === "string" ? value : "";
  const head = DATA_URL.exec(url);
  if (head === null) throw invalid(path, REFERENCE);
  checkImage(head[1], url.slice(head[0].length), path, notes);
  return url;
};

const checkImage = (mediaType: unknown, data: unknown, path: string, notes: Parameters<Filter>[2]): string => {
  const hasSignature = typeof mediaType === "string" && Object.hasOwn(SIGNATURES, mediaType);
  if (typeof data !== "string" || !hasSignature || data.length % 4 !== 0 || !BASE64.test(data)) {
    throw invalid(path, "must be a PNG, JPEG, GIF or WebP image in base64");
  }
  const first = Buffer.from(data.slice(0, SIGNATURE_CHARACTERS), "base64");
  if (SIGNATURES[mediaType]?.(first) !== true) throw invalid(path, `must be an image of type ${mediaType}`);
  notes.images += 1;
  notes.imageCharacters += data.length;
  return data;
};
