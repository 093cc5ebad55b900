import { randomUUID } from "node:crypto";
import { TransactionCanceledException } from "@aws-sdk/client-dynamodb";
import { GetParameterCommand } from "@aws-sdk/client-ssm";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { dynamoClient, ssmClient } from "#shared/aws/clients.ts";
import { dynamoTable } from "#shared/aws/dynamo-table.ts";
import { s3FileStore } from "#shared/aws/s3-files.ts";
import { ssmSecretVault } from "#shared/aws/ssm-vault.ts";
import { TableBusy } from "#shared/table/table.ts";
import { createBucket, createTable, EMULATOR_START_MS, type EmulatedAws, emulatedAws } from "../support/emulator.ts";
import { fileStoreContract, signedUrls } from "./file-store-contract.ts";
import { tableContract } from "./table-contract.ts";

const table = `table-${randomUUID()}`;
const bucket = `bucket-${randomUUID()}`;
let aws: EmulatedAws;
beforeAll(async () => {
  aws = await emulatedAws();
  await createTable(aws.dynamo, table);
  await createBucket(aws.s3, bucket);
}, EMULATOR_START_MS);
afterAll(() => aws.stop());

describe("the table on DynamoDB", () => {
  tableContract(() => dynamoTable(aws.dynamo, table));
});

describe("the table on DynamoDB, disturbed", () => {
  /** Lets the first calls fail with what DynamoDB answers while another transaction is at the item. */
  function disturbed(times: number) {
    const client = dynamoClient();
    let left = times;
    client.middlewareStack.add(
      (next) => async (args) => {
        if (left-- <= 0) return next(args);
        throw new TransactionCanceledException({
          message: "conflict",
          $metadata: {},
          CancellationReasons: [{ Code: "None" }, { Code: "TransactionConflict" }],
        });
      },
      { step: "initialize" },
    );
    return dynamoTable(client, table);
  }
  const put = (sk: string) => ({ kind: "put" as const, item: { pk: "DISTURBED", sk } });

  it("tries again where another transaction was at the item", async () => {
    await disturbed(4).transact([put("a"), put("b")]);
    expect((await dynamoTable(aws.dynamo, table).query({ pk: "DISTURBED" })).items).toHaveLength(2);
  });

  it("gives up at last, with the conflict and not with a failed condition", async () => {
    const error = await disturbed(100)
      .transact([put("c"), put("d")])
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(TableBusy);
    expect(error).toMatchObject({ cause: expect.any(TransactionCanceledException) });
  });
});

describe("files on S3", () => {
  const store = (seconds: number) => s3FileStore(aws.s3, () => bucket, seconds, Date.now);
  fileStoreContract(() => store(900));
  signedUrls(store);
});

describe("values of secrets on Parameter Store", () => {
  const PATH = `/runyard-test-${randomUUID()}`;
  const vault = () => ssmSecretVault(ssmClient(), () => PATH);

  it.each([
    ["a long text", "ä".repeat(2_000)],
    ["lines", 'one\n"two"\n'],
    ["what looks like a reference", "{{ssm:other}}"],
    ["what looks encoded", "base64:aGVsbG8="],
  ])("are read back as they were: %s", async (name, value) => {
    const id = `id-${name.length}`;
    await vault().put("team", id, value);
    expect(await vault().getAll("team", [id])).toEqual(new Map([[id, value]]));
    const command = new GetParameterCommand({ Name: `${PATH}/team/${id}`, WithDecryption: true });
    const { Parameter } = await ssmClient().send(command);
    expect(Parameter?.Type).toBe("SecureString");
    expect(Parameter?.Value).not.toContain("{{");
  });

  it("are forgotten, each under an id of its own, and twice is no error", async () => {
    await vault().put("team", "first", "one");
    await vault().put("team", "second", "two");
    await expect(vault().put("team", "first", "another")).rejects.toThrow();
    await vault().remove("team", "first");
    await vault().remove("team", "first");
    expect(await vault().getAll("team", ["first", "second", "third"])).toEqual(new Map([["second", "two"]]));
    expect(await vault().getAll("other", ["second"])).toEqual(new Map());
  });

  it("are answered together, more of them than one call may ask for", async () => {
    const ids = Array.from({ length: 23 }, (_, index) => `many-${index}`);
    for (const id of ids) await vault().put("team", id, `value of ${id}`);
    expect(await vault().getAll("team", ids)).toEqual(new Map(ids.map((id) => [id, `value of ${id}`])));
  });

  it("are refused where they do not fit", async () => {
    await expect(vault().put("team", "long", `{{${"x".repeat(4_000)}`)).rejects.toMatchObject({
      code: "invalid_request",
    });
  });
});
