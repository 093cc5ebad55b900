import { Aws, CfnOutput, RemovalPolicy, Stack, type StackProps } from "aws-cdk-lib";
import { AttributeType, BillingMode, ProjectionType, StreamViewType, Table } from "aws-cdk-lib/aws-dynamodb";
import { Bucket, HttpMethods, type IBucket } from "aws-cdk-lib/aws-s3";
import type { Construct } from "constructs";
import { closedBucket } from "../constructs/closed-bucket.ts";
import type { IndexName } from "../rights.ts";
import type { Settings } from "../settings.ts";

/**
 * All indexes, declared with the table: AWS creates one index per table update, so two indexes added later would need two
 * releases. They share generic attributes; shared/table/keys.ts describes the purpose of each.
 */
const indexes: Record<IndexName, { partition: string; sort: string; carries: string[] }> = {
  gsi1: { partition: "updated_scope", sort: "updated_key", carries: ["p", "state"] },
  gsi2: { partition: "scope", sort: "created_key", carries: ["p"] },
  gsi3: { partition: "scope", sort: "title_key", carries: ["p"] },
  gsi4: { partition: "scope", sort: "agent_key", carries: ["p"] },
  gsi5: { partition: "active_scope", sort: "created_key", carries: ["p"] },
  gsi6: { partition: "check_shard", sort: "check_at", carries: ["v"] },
  gsi7: { partition: "group", sort: "updated_key", carries: ["p", "state"] },
};

/** Days for which the table has point-in-time recovery. */
const BACKUP_DAYS = 35;

export interface DataStackProps extends StackProps {
  readonly settings: Settings;
}

/** The data of the deployment: the table and the bucket. Deleting this stack retains both, but not the live output. */
export class DataStack extends Stack {
  /** The table that functions use: the one of this stack, or the one that the settings name. */
  readonly table: Pick<Table, "tableArn" | "tableName">;
  /** The stream of that table; undefined where it is an existing table whose stream the settings do not name. */
  readonly streamArn: string | undefined;
  readonly bucket: Pick<IBucket, "arnForObjects" | "bucketArn" | "bucketName" | "bucketRegionalDomainName">;
  /** The table of live output. It lives for minutes, so it has no backups and no stream, and goes with the stack. */
  readonly live: Table;

  constructor(scope: Construct, id: string, { settings, ...props }: DataStackProps) {
    super(scope, id, props);
    const onAws = settings.stage === "aws";
    const removalPolicy = onAws ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY;

    const table = new Table(this, "Table", {
      tableName: settings.tableName,
      partitionKey: { name: "pk", type: AttributeType.STRING },
      sortKey: { name: "sk", type: AttributeType.STRING },
      billingMode: BillingMode.PAY_PER_REQUEST,
      timeToLiveAttribute: "expires_at",
      stream: StreamViewType.NEW_AND_OLD_IMAGES,
      deletionProtection: onAws,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: onAws },
      removalPolicy,
    });
    addIndexes(table);

    this.live = new Table(this, "LiveTable", {
      tableName: `${settings.tableName}-live`,
      partitionKey: { name: "pk", type: AttributeType.STRING },
      sortKey: { name: "sk", type: AttributeType.STRING },
      billingMode: BillingMode.PAY_PER_REQUEST,
      timeToLiveAttribute: "expires_at",
      removalPolicy: RemovalPolicy.DESTROY,
    });

    const logs = onAws ? closedBucket(this, "BucketLogs", { removalPolicy, expireDays: 90 }) : undefined;
    const bucket = closedBucket(this, "Bucket", {
      removalPolicy,
      logs,
      // Equal to the table's recovery window, so that files can be restored to the same point in time.
      ...(onAws && { restorableDays: BACKUP_DAYS }),
      forgotten: [
        // Skills of repositories can be discovered again; the table deletes its references a few days earlier.
        { prefix: "skills/", days: 30 },
        // An upload has a day until a run uses it; the run gets its own copy.
        { prefix: "attachments/", days: 2 },
        // A follow-up within this time finds the workspace as the run left it.
        { prefix: "snapshots/", days: 30 },
        // The table deletes the deliveries of these events at the same time.
        { prefix: "events/", days: 30 },
      ],
      // Runs are kept indefinitely, and so are their transcripts, artifacts and messages.
      tiered: ["runs/", "requests/"],
      // The web app reads and uploads by signed URL. The signature authorizes the request, so any origin may send one;
      // no cookie is involved.
      cors: [
        {
          allowedMethods: [HttpMethods.GET, HttpMethods.PUT, HttpMethods.POST],
          allowedOrigins: [settings.webUrl === undefined ? "*" : new URL(settings.webUrl).origin],
          allowedHeaders: ["*"],
          exposedHeaders: ["ETag", "Content-Disposition", "Content-Length"],
          maxAge: 3600,
        },
      ],
    });

    const { existingTable, existingTableStream, existingBucket } = settings;
    this.table = existingTable === undefined ? table : tableNamed(existingTable);
    this.streamArn = existingTable === undefined ? table.tableStreamArn : existingTableStream;
    this.bucket = existingBucket === undefined ? bucket : Bucket.fromBucketName(this, "ExistingBucket", existingBucket);
    // Exported in any case: a stack cannot drop an export while another stack still imports it.
    for (const value of [
      table.tableArn,
      table.tableName,
      bucket.bucketArn,
      bucket.bucketName,
      bucket.bucketRegionalDomainName,
      ...(table.tableStreamArn === undefined ? [] : [table.tableStreamArn]),
    ])
      this.exportValue(value);
    new CfnOutput(this, "TableName", { value: this.table.tableName });
    new CfnOutput(this, "BucketName", { value: this.bucket.bucketName });
  }
}

function addIndexes(table: Table): void {
  for (const [indexName, { partition, sort, carries }] of Object.entries(indexes)) {
    table.addGlobalSecondaryIndex({
      indexName,
      partitionKey: { name: partition, type: AttributeType.STRING },
      sortKey: { name: sort, type: AttributeType.STRING },
      projectionType: ProjectionType.INCLUDE,
      nonKeyAttributes: carries,
    });
  }
}

const tableNamed = (tableName: string) => ({
  tableName,
  tableArn: `arn:${Aws.PARTITION}:dynamodb:${Aws.REGION}:${Aws.ACCOUNT_ID}:table/${tableName}`,
});
