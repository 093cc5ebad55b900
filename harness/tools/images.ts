import type { ToolImage } from "../engine/tool.ts";

/** The largest side of an image in pixels, above which providers refuse it. */
const MAX_SIDE = 7_999;
/** The largest image. A request to a model has room for a few of them. */
const MAX_IMAGE_BYTES = 1_536 * 1024;

/** What a file or a result is, for the conversation and for models that do not see it. */
interface ImageFacts {
  readonly image: string;
  readonly size_bytes: number;
  readonly pixels?: string;
  /** Why the model does not get it. */
  readonly not_shown?: string;
}

/** Reads an image as a tool has it; `image` is absent where it cannot be shown, and the facts say why. */
export function readImage(data: string): { readonly facts: ImageFacts; readonly image?: ToolImage } | undefined {
  const bytes = Buffer.from(data, "base64");
  const format = findFormat(bytes);
  if (format === undefined) return undefined;
  const size = format === "png" ? readPngSize(bytes) : readJpegSize(bytes);
  const facts = {
    image: format === "png" ? "PNG" : "JPEG",
    size_bytes: bytes.length,
    ...(size === undefined ? {} : { pixels: `${size.width} × ${size.height}` }),
  };
  const refused = findRefusal(bytes, size);
  return refused === undefined ? { facts, image: { format, bytes } } : { facts: { ...facts, not_shown: refused } };
}

interface Size {
  readonly width: number;
  readonly height: number;
}

function findRefusal({ length }: Buffer, size: Size | undefined): string | undefined {
  if (size === undefined || size.width === 0 || size.height === 0) return "it is damaged";
  if (length > MAX_IMAGE_BYTES) return `it has more than ${MAX_IMAGE_BYTES} bytes; make it smaller first`;
  const isLarge = Math.max(size.width, size.height) > MAX_SIDE;
  return isLarge ? `a side has more than ${MAX_SIDE} pixels; make it smaller first` : undefined;
}

function findFormat(bytes: Buffer): ToolImage["format"] | undefined {
  if (bytes.subarray(0, 8).equals(Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]))) return "png";
  return bytes[0] === 0xff && bytes[1] === 0xd8 && bytes[2] === 0xff ? "jpeg" : undefined;
}

/** The size is in the header, which is the first chunk of every PNG. */
function readPngSize(bytes: Buffer): Size | undefined {
  if (bytes.length < 33 || bytes.toString("latin1", 12, 16) !== "IHDR") return undefined;
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
}

/** The size is in the frame header, which follows other segments. */
function readJpegSize(bytes: Buffer): Size | undefined {
  for (let at = 2; at + 9 < bytes.length; ) {
    if (bytes[at] !== 0xff) return undefined;
    const marker = bytes[at + 1] ?? 0;
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return { height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) };
    at += 2 + bytes.readUInt16BE(at + 2);
  }
  return undefined;
}
