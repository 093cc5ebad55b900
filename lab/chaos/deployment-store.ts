import { setTimeout as pause } from "node:timers/promises";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { ListBucketsCommand, ListObjectsV2Command, S3Client } from "@aws-sdk/client-s3";
import { DynamoDBDocumentClient, QueryCommand, ScanCommand } from "@aws-sdk/lib-dynamodb";
import * as v from "valibot";
import { clientSettings, type EmulatorAccess } from "../../emulator/emulator-access.ts";
import { CHECK_SHARDS } from "../../shared/table/keys.ts";
import { type EvidenceStore, StoredItem } from "./evidence.ts";

const TABLE_NAME = "runyard";
const REST_LOOK_MS = 1_000;

/** Reads the table and the bucket of the emulator directly. */
export class DeploymentStore implements EvidenceStore {
  readonly #table: DynamoDBDocumentClient;
  readonly #bucket: S3Client;

  constructor(emulator: EmulatorAccess) {
    const settings = clientSettings(emulator);
    this.#table = DynamoDBDocumentClient.from(new DynamoDBClient(settings));
    this.#bucket = new S3Client({ ...settings, forcePathStyle: true });
  }

  async items(): Promise<StoredItem[]> {
    const items: StoredItem[] = [];
    let start: Record<string, unknown> | undefined;
    do {
      const page = await this.#table.send(
        new ScanCommand({ TableName: TABLE_NAME, ...(start === undefined ? {} : { ExclusiveStartKey: start }) }),
      );
      items.push(...v.parse(v.array(StoredItem), page.Items ?? []));
      start = page.LastEvaluatedKey;
    } while (start !== undefined);
    return items;
  }

  async objects(): Promise<string[]> {
    const { Buckets: buckets = [] } = await this.#bucket.send(new ListBucketsCommand({}));
    const data = buckets.map(({ Name }) => Name ?? "").filter((name) => name.startsWith("runyard"));
    const keys: string[] = [];
    for (const bucket of data) {
      let token: string | undefined;
      do {
        const page = await this.#bucket.send(
          new ListObjectsV2Command({ Bucket: bucket, ...(token === undefined ? {} : { ContinuationToken: token }) }),
        );
        keys.push(...(page.Contents ?? []).map(({ Key }) => Key ?? ""));
        token = page.IsTruncated === true ? page.NextContinuationToken : undefined;
      } while (token !== undefined);
    }
    return keys;
  }

  async rest(deadline: number): Promise<boolean> {
    while (Date.now() < deadline) {
      const shards = await Promise.all(Array.from({ length: CHECK_SHARDS }, (_, shard) => this.#isDue(shard)));
      if (!shards.includes(true)) return true;
      await pause(REST_LOOK_MS);
    }
    return false;
  }

  async #isDue(shard: number): Promise<boolean> {
    const { Items: items = [] } = await this.#table.send(
      new QueryCommand({
        TableName: TABLE_NAME,
        IndexName: "gsi6",
        KeyConditionExpression: "check_shard = :shard",
        ExpressionAttributeValues: { ":shard": `RUNS#${shard}` },
        Limit: 1,
      }),
    );
    return items.length > 0;
  }

  close(): void {
    this.#table.destroy();
    this.#bucket.destroy();
  }
}
