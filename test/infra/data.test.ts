import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { type Synthesized, synthesize } from "./synthesize.ts";

interface Index {
  readonly IndexName: string;
  readonly KeySchema: { AttributeName: string; KeyType: string }[];
  readonly Projection: { ProjectionType: string; NonKeyAttributes?: string[] };
}
interface TableProperties {
  readonly TableName: string;
  readonly KeySchema: object[];
  readonly AttributeDefinitions: { AttributeName: string; AttributeType: string }[];
  readonly GlobalSecondaryIndexes: Index[];
}
interface BucketProperties {
  readonly PublicAccessBlockConfiguration: object;
  readonly LoggingConfiguration?: object;
  readonly LifecycleConfiguration?: { Rules: { Prefix?: string; ExpirationInDays?: number }[] };
  readonly CorsConfiguration?: { CorsRules: { AllowedOrigins: string[]; AllowedMethods: string[] }[] };
}

let aws: Synthesized;
let local: Synthesized;
beforeAll(() => {
  aws = synthesize();
  local = synthesize({ stage: "local", tableName: "restored" });
});
const findTable = (deployment: Synthesized) => {
  const tables = deployment.all<TableProperties>("AWS::DynamoDB::Table");
  const [table, ...others] = tables.filter(({ id }) => !id.startsWith("LiveTable"));
  if (!table || others.length > 0) throw new Error("there is not exactly one table");
  return table;
};

describe("the table", () => {
  it("has string keys, seven indexes on shared attributes, and a packed projection in each", () => {
    const { AttributeDefinitions, GlobalSecondaryIndexes } = findTable(aws).Properties;
    expect(new Set(AttributeDefinitions.map(({ AttributeType }) => AttributeType))).toEqual(new Set(["S"]));
    expect(indexLines(GlobalSecondaryIndexes)).toEqual([
      "gsi1: updated_scope, updated_key; carries p, state",
      "gsi2: scope, created_key; carries p",
      "gsi3: scope, title_key; carries p",
      "gsi4: scope, agent_key; carries p",
      "gsi5: active_scope, created_key; carries p",
      "gsi6: check_shard, check_at; carries v",
      "gsi7: group, updated_key; carries p, state",
    ]);
  });

  it("changes at most one index compared with the last release, because AWS builds one per update", () => {
    // The indexes of the last release. Update them with the next release, and not before.
    const released: string[] = JSON.parse(readFileSync(join(import.meta.dirname, "released-indexes.json"), "utf8"));
    const refused = refusal(released, indexLines(findTable(aws).Properties.GlobalSecondaryIndexes));
    expect(refused).toBeUndefined();
  });

  it("is billed by use, expires items, and streams changes", () => {
    expect(findTable(aws).Properties).toMatchObject({
      TableName: "runyard",
      BillingMode: "PAY_PER_REQUEST",
      TimeToLiveSpecification: { AttributeName: "expires_at", Enabled: true },
      StreamSpecification: { StreamViewType: "NEW_AND_OLD_IMAGES" },
      KeySchema: [
        { AttributeName: "pk", KeyType: "HASH" },
        { AttributeName: "sk", KeyType: "RANGE" },
      ],
    });
    expect(findTable(local).Properties.TableName).toBe("restored");
  });

  it("cannot be deleted by accident, and can be restored to any second, on AWS", () => {
    expect(findTable(aws)).toMatchObject({
      DeletionPolicy: "Retain",
      UpdateReplacePolicy: "Retain",
      Properties: {
        DeletionProtectionEnabled: true,
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      },
    });
    expect(findTable(local).DeletionPolicy).toBe("Delete");
  });
});

describe("the check of index changes", () => {
  const released = ["gsi1: a, b; carries p", "gsi2: a, c; carries p"];

  it("allows one index to be added or removed", () => {
    expect(refusal(released, released)).toBeUndefined();
    expect(refusal(released, [...released, "gsi3: a, d; carries p"])).toBeUndefined();
    expect(refusal(released, ["gsi1: a, b; carries p"])).toBeUndefined();
  });

  it("rejects two of them, and a changed index, which is a removal and an addition", () => {
    expect(refusal(released, [...released, "gsi3: a, d; carries p", "gsi4: a, e; carries p"])).toMatch(/gsi3.*gsi4/);
    expect(refusal(released, ["gsi1: a, b; carries p, q", "gsi2: a, c; carries p"])).toMatch(/gsi1.*gsi1/);
  });
});

describe("the bucket", () => {
  it("is retained, closed to the public and to plain HTTP, and logs accesses", () => {
    const buckets = aws.all<BucketProperties>("AWS::S3::Bucket");
    for (const { stack, id, DeletionPolicy, Properties } of buckets) {
      expect(Properties.PublicAccessBlockConfiguration).toEqual({
        BlockPublicAcls: true,
        BlockPublicPolicy: true,
        IgnorePublicAcls: true,
        RestrictPublicBuckets: true,
      });
      if (stack === "Runyard-Data") expect(DeletionPolicy, id).toBe("Retain");
    }
    const policies = aws.all<{ PolicyDocument: object }>("AWS::S3::BucketPolicy");
    expect(policies).toHaveLength(buckets.length);
    for (const { Properties } of policies) expect(JSON.stringify(Properties)).toContain("aws:SecureTransport");
    expect(buckets.filter(({ Properties }) => Properties.LoggingConfiguration)).toHaveLength(1);
  });

  it("expires unused uploads, discovery results, events of triggers and old snapshots, and nothing else of a run", () => {
    const rules = aws
      .all<BucketProperties>("AWS::S3::Bucket")
      .filter(({ Properties }) => Properties.LoggingConfiguration)
      .flatMap(({ Properties }) => Properties.LifecycleConfiguration?.Rules ?? []);
    expect(rules).toContainEqual(expect.objectContaining({ Prefix: "attachments/", ExpirationInDays: 2 }));
    for (const { Prefix, ExpirationInDays } of rules.filter((rule) => rule.ExpirationInDays !== undefined)) {
      expect(Prefix, `${ExpirationInDays} days`).toMatch(/^(attachments|events|skills|snapshots)\/$/);
    }
  });

  it("keeps deleted files of runs for as long as the table can be restored, and those that can be made again for a day", () => {
    const [bucket] = aws
      .all<BucketProperties>("AWS::S3::Bucket")
      .filter(({ Properties }) => Properties.LoggingConfiguration);
    const rules: readonly { Prefix?: string; NoncurrentVersionExpiration?: { NoncurrentDays: number } }[] =
      bucket?.Properties.LifecycleConfiguration?.Rules ?? [];
    expect(bucket?.Properties).toMatchObject({ VersioningConfiguration: { Status: "Enabled" } });
    expect(
      rules.flatMap(({ Prefix = "all", NoncurrentVersionExpiration: { NoncurrentDays } = {} }) =>
        NoncurrentDays === undefined ? [] : [`${Prefix} ${NoncurrentDays}`],
      ),
    ).toEqual(["all 35", "skills/ 1", "attachments/ 1", "snapshots/ 1", "events/ 1"]);
    expect(rules).toContainEqual(expect.objectContaining({ Id: "deleted-objects", ExpiredObjectDeleteMarker: true }));
  });

  it("allows only the configured web app, if any, to use signed URLs from a page", () => {
    const origins = (deployment: Synthesized) =>
      deployment
        .all<BucketProperties>("AWS::S3::Bucket")
        .flatMap(
          ({ Properties }) => Properties.CorsConfiguration?.CorsRules.flatMap((rule) => rule.AllowedOrigins) ?? [],
        );
    expect(origins(synthesize({ webUrl: "https://runyard.example/app/" }))).toEqual(["https://runyard.example"]);
    expect(origins(aws)).toEqual(["*"]);
  });
});

function indexLines(indexes: readonly Index[]): string[] {
  return indexes
    .map(({ IndexName, KeySchema, Projection }) => {
      const carried = (Projection.NonKeyAttributes ?? [Projection.ProjectionType]).join(", ");
      return `${IndexName}: ${KeySchema.map(({ AttributeName }) => AttributeName).join(", ")}; carries ${carried}`;
    })
    .sort();
}

/** Explains why one deployment cannot change the released indexes into the new ones, if it cannot. */
function refusal(released: readonly string[], next: readonly string[]): string | undefined {
  const made = next.filter((line) => !released.includes(line));
  const dropped = released.filter((line) => !next.includes(line));
  if (made.length + dropped.length <= 1) return undefined;
  return `one deployment can make or drop one index of a table, not ${[...dropped, ...made].join(" and ")}`;
}
