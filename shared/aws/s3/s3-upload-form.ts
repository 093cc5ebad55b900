import { createHmac } from "node:crypto";
import { PutObjectCommand, type S3Client } from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import type { UploadTarget } from "#shared/wire/harness.ts";

interface FormOptions {
  readonly bucket: string;
  readonly key: string;
  /** Maximum size of the file in bytes; the minimum is one byte. */
  readonly mostBytes: number;
  readonly contentType: string;
  readonly seconds: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * A form by which a browser or a program uploads one file to this key, signed as AWS's documentation of POST policies says
 * (Signature Version 4): https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-HTTPPOSTConstructPolicy.html
 */
export async function s3UploadForm(
  client: S3Client,
  { bucket, key, mostBytes, contentType, seconds, now }: FormOptions,
): Promise<UploadTarget> {
  const [credentials, region, url] = await Promise.all([
    client.config.credentials(),
    client.config.region(),
    bucketUrl(client, bucket),
  ]);
  const time = formatTime(now);
  const day = time.slice(0, 8);
  const fields = {
    key,
    "Content-Type": contentType,
    "x-amz-algorithm": "AWS4-HMAC-SHA256",
    "x-amz-credential": `${credentials.accessKeyId}/${day}/${region}/s3/aws4_request`,
    "x-amz-date": time,
    ...(credentials.sessionToken === undefined ? {} : { "x-amz-security-token": credentials.sessionToken }),
  };
  const policy = Buffer.from(
    JSON.stringify({
      expiration: new Date(now + seconds * 1000).toISOString(),
      conditions: [
        { bucket },
        ...Object.entries(fields).map(([name, value]) => ({ [name]: value })),
        ["content-length-range", 1, mostBytes],
      ],
    }),
  ).toString("base64");
  const hmac = (secret: string | Buffer, text: string) => createHmac("sha256", secret).update(text).digest();
  const signingKey = [region, "s3", "aws4_request"].reduce(hmac, hmac(`AWS4${credentials.secretAccessKey}`, day));
  const signed = { ...fields, policy, "x-amz-signature": hmac(signingKey, policy).toString("hex") };
  return {
    url,
    method: "POST",
    headers: null,
    fields: [
      ...Object.entries(signed).map(([name, value]) => ({ name, value: { kind: "static" as const, value } })),
      // S3 ignores the fields after the file.
      { name: "file", value: { kind: "content_data" } },
    ],
  };
}

/** The bucket's URL, which depends on the settings of the client: derived from the URL of one of its objects. */
async function bucketUrl(client: S3Client, bucket: string): Promise<string> {
  const url = new URL(await getSignedUrl(client, new PutObjectCommand({ Bucket: bucket, Key: "-" })));
  return `${url.origin}${url.pathname.slice(0, -1)}`;
}

/** As `20260518T190000Z`. */
const formatTime = (milliseconds: number): string => new Date(milliseconds).toISOString().replace(/[-:]|\.\d{3}/g, "");
