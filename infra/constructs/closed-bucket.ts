import { Duration, type RemovalPolicy } from "aws-cdk-lib";
import {
  BlockPublicAccess,
  Bucket,
  BucketEncryption,
  type CorsRule,
  type IBucket,
  ObjectOwnership,
  StorageClass,
} from "aws-cdk-lib/aws-s3";
import type { Construct } from "constructs";

export interface ClosedBucketProps {
  /** Whether the bucket outlives its stack. */
  readonly removalPolicy: RemovalPolicy;
  /** Whether a function of the CDK empties the bucket before its deletion. Otherwise it has to be empty. @default false */
  readonly autoDeleteObjects?: boolean;
  /** Days after which every object is deleted. @default never */
  readonly expireDays?: number;
  /** Days until objects are deleted, by key prefix. @default none */
  readonly forgotten?: readonly { readonly prefix: string; readonly days: number }[];
  /** Prefixes of objects that move to Intelligent-Tiering after 30 days, except objects below 128 KB. @default none */
  readonly tiered?: readonly string[];
  /** Days for which deleted objects can be restored. @default they cannot */
  readonly restorableDays?: number;
  /** What pages of other origins may do with a signed URL. @default nothing */
  readonly cors?: CorsRule[];
  /** Bucket that gets this one's access log. @default no log */
  readonly logs?: IBucket | undefined;
}

/** Most files of a run are read in its first days or never. */
const TIERED_AFTER_DAYS = 30;

/**
 * A bucket that requires a credential or a signed URL, over TLS, encrypted by S3. Objects are written once, so versions only keep
 * deleted objects.
 */
export function closedBucket(scope: Construct, id: string, props: ClosedBucketProps): IBucket {
  const { expireDays, logs, restorableDays } = props;
  const bucket: unknown = new Bucket(scope, id, {
    blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
    encryption: BucketEncryption.S3_MANAGED,
    enforceSSL: true,
    objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
    versioned: restorableDays !== undefined,
    removalPolicy: props.removalPolicy,
    ...(props.autoDeleteObjects !== undefined && { autoDeleteObjects: props.autoDeleteObjects }),
    lifecycleRules: [
      { id: "unfinished-uploads", abortIncompleteMultipartUploadAfter: Duration.days(1) },
      ...(restorableDays === undefined
        ? []
        : [
            {
              id: "deleted-objects",
              noncurrentVersionExpiration: Duration.days(restorableDays),
              // A delete marker without versions has no use.
              expiredObjectDeleteMarker: true,
            },
          ]),
      ...(expireDays === undefined ? [] : [{ id: "expiry", expiration: Duration.days(expireDays) }]),
      ...(props.forgotten ?? []).map(({ prefix, days }) => ({
        id: `forgotten-${prefix.replace(/\/$/, "")}`,
        prefix,
        expiration: Duration.days(days),
        // These objects can be recreated, and some are large, so no versions are kept.
        ...(restorableDays !== undefined && { noncurrentVersionExpiration: Duration.days(1) }),
      })),
      ...(props.tiered ?? []).map((prefix) => ({
        id: `tiered-${prefix.replace(/\/$/, "")}`,
        prefix,
        transitions: [
          { storageClass: StorageClass.INTELLIGENT_TIERING, transitionAfter: Duration.days(TIERED_AFTER_DAYS) },
        ],
      })),
    ],
    ...(props.cors && { cors: props.cors }),
    ...(logs && { serverAccessLogsBucket: logs, serverAccessLogsPrefix: "objects/" }),
  });
  if (!isBucket(bucket)) throw new Error("aws-cdk-lib is there twice");
  return bucket;
}

/** CDK's Bucket misses its own interface under exactOptionalPropertyTypes by one member, and only in the types. */
function isBucket(bucket: unknown): bucket is IBucket {
  return bucket instanceof Bucket;
}
