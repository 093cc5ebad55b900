import { S3Client } from "@aws-sdk/client-s3";
import { hooked, workSettings } from "../client-settings.ts";

/** Uses path style for an endpoint with an IP address, since a bucket then has no host name. */
export const s3Client = (): S3Client =>
  hooked(
    new S3Client({
      ...workSettings,
      forcePathStyle: process.env["AWS_ENDPOINT_URL"] !== undefined,
      requestChecksumCalculation: "WHEN_REQUIRED",
    }),
  );
