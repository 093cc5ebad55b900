import * as v from "valibot";
import type { UploadTarget } from "#shared/wire/harness.ts";
import { s3Error } from "./s3-errors.ts";
import { computeHmac, isEqual, toCompactTime } from "./url-signature.ts";

const ALGORITHM = "RUNYARD-HMAC-SHA256";
/** Fields that need no condition. */
const FREE_FIELDS = new Set(["policy", "x-amz-signature"]);

const Policy = v.object({
  expiration: v.pipe(v.string(), v.isoTimestamp()),
  conditions: v.array(
    v.union([v.tuple([v.literal("content-length-range"), v.number(), v.number()]), v.record(v.string(), v.string())]),
  ),
});

interface FormOptions {
  readonly url: string;
  readonly key: string;
  /** Maximum size; the minimum is one byte. */
  readonly mostBytes: number;
  readonly contentType: string;
  readonly seconds: number;
  /** Milliseconds. */
  readonly now: number;
}

/** Creates an upload form for one file, in the format of S3's POST policies. */
export function makeUploadForm(secret: Uint8Array, options: FormOptions): UploadTarget {
  const { url, key, mostBytes, contentType, seconds, now } = options;
  const fields = {
    key,
    "Content-Type": contentType,
    "x-amz-algorithm": ALGORITHM,
    "x-amz-date": toCompactTime(now),
  };
  const policy: v.InferOutput<typeof Policy> = {
    expiration: new Date(now + seconds * 1000).toISOString(),
    conditions: [
      ...Object.entries(fields).map(([name, value]) => ({ [name]: value })),
      ["content-length-range", 1, mostBytes],
    ],
  };
  const encoded = Buffer.from(JSON.stringify(policy)).toString("base64");
  const signed = { ...fields, policy: encoded, "x-amz-signature": computeHmac(secret, encoded) };
  return {
    url,
    method: "POST",
    headers: null,
    fields: [
      ...Object.entries(signed).map(([name, value]) => ({ name, value: { kind: "static" as const, value } })),
      // Fields after the file are ignored.
      { name: "file", value: { kind: "content_data" } },
    ],
  };
}

export interface AllowedUpload {
  readonly key: string;
  readonly leastBytes: number;
  readonly mostBytes: number;
}

/**
 * Verifies the fields of a form and returns what may be uploaded.
 * @throws S3Error if the signature or a condition does not match, or the form has expired
 */
export function verifyUploadForm(secret: Uint8Array, fields: ReadonlyMap<string, string>, now: number): AllowedUpload {
  const encoded = fields.get("policy") ?? "";
  if (!isEqual(fields.get("x-amz-signature") ?? "", computeHmac(secret, encoded))) {
    throw s3Error("SignatureDoesNotMatch", "The form is not one that was signed.");
  }
  const { expiration, conditions } = v.parse(Policy, JSON.parse(Buffer.from(encoded, "base64").toString()));
  if (now >= Date.parse(expiration)) throw s3Error("AccessDenied", "Invalid according to Policy: Policy expired.");
  const required = new Map(
    conditions.flatMap((condition) =>
      Array.isArray(condition)
        ? []
        : Object.entries(condition).map(([name, value]) => [name.toLowerCase(), value] as const),
    ),
  );
  for (const name of fields.keys()) {
    if (!FREE_FIELDS.has(name) && !required.has(name)) {
      throw s3Error("AccessDenied", `Invalid according to Policy: Extra input fields: ${name}`);
    }
  }
  for (const [name, value] of required) {
    if (fields.get(name) !== value) {
      throw s3Error("AccessDenied", `Invalid according to Policy: Policy Condition failed: ${name}`);
    }
  }
  const range = conditions.find((condition) => Array.isArray(condition));
  const [, leastBytes = 0, mostBytes = 0] = range ?? [];
  return { key: fields.get("key") ?? "", leastBytes, mostBytes };
}
