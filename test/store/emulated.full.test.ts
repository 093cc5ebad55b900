import { randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TransactionCanceledException } from "@aws-sdk/client-dynamodb";
import { GetParameterCommand } from "@aws-sdk/client-ssm";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { diskFileStore } from "#server/files/disk-file-store.ts";
import { openAdapters } from "#server/ports.ts";
import { readSource, writeDestination } from "#server/transfer/destination.ts";
import { exportData, writeExport } from "#server/transfer/export.ts";
import { readItems } from "#server/transfer/export-format.ts";
import { importData } from "#server/transfer/import.ts";
import { dynamoClient, ssmClient } from "#shared/aws/clients.ts";
import { dynamoTable } from "#shared/aws/dynamo-table.ts";
import { s3FileRemoval } from "#shared/aws/s3/s3-file-removal.ts";
import { s3FileStore } from "#shared/aws/s3/s3-files.ts";
import { ssmFormerSecrets } from "#shared/aws/ssm-former-secrets.ts";
import { ssmKeySetStore } from "#shared/aws/ssm-key-set-store.ts";
import { principalStore } from "#shared/principals/principal-store.ts";
import { type Item, TableBusy } from "#shared/table/table.ts";
import { bootstrap } from "#shared/teams/bootstrap.ts";
import { tableVault } from "#shared/vault/secret-value-store.ts";
import { createVaultKeys } from "#shared/vault/vault-keys.ts";
import { awsSource } from "../../operate/export-aws.ts";
import { awsTarget } from "../../operate/import-aws.ts";
import { type Served, useServers } from "../server/support/served.ts";
import { createClient } from "../support/client.ts";
import { createTestControlPlane } from "../support/control-plane.ts";
import { createBucket, createTable, EMULATOR_START_MS, type EmulatedAws, emulatedAws } from "../support/emulator.ts";
import { fillServer, readAll } from "../support/portable-data.ts";
import { fileStoreContract, signedUrls } from "./file-store-contract.ts";
import { tableContract } from "./table-contract.ts";

const table = `table-${randomUUID()}`;
const bucket = `bucket-${randomUUID()}`;
let aws: EmulatedAws;
beforeAll(async () => {
  aws = await emulatedAws();
  await createTable(table);
  await createBucket(aws.s3, bucket);
}, EMULATOR_START_MS);
afterAll(() => aws.stop());

describe("the table on DynamoDB", () => {
  tableContract(() => dynamoTable(aws.dynamo, table));
});

describe("the table on DynamoDB with conflicts", () => {
  /** Makes the first calls fail with DynamoDB's error for an item that another transaction uses. */
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

  it("retries when another transaction uses the item", async () => {
    await disturbed(4).transact([put("a"), put("b")]);
    expect((await dynamoTable(aws.dynamo, table).query({ pk: "DISTURBED" })).items).toHaveLength(2);
  });

  it("finally fails with the conflict, and not with a failed condition", async () => {
    const error = await disturbed(100)
      .transact([put("c"), put("d")])
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(TableBusy);
    expect(error).toMatchObject({ cause: expect.any(TransactionCanceledException) });
  });
});

describe("files on S3", () => {
  const store = (seconds: number) => s3FileStore(aws.s3, () => bucket, seconds, Date.now);
  fileStoreContract(() => ({ ...store(900), ...s3FileRemoval(aws.s3, () => bucket) }));
  signedUrls(store);
});

describe("the vault, with its key in Parameter Store", () => {
  const name = `/runyard-test-${randomUUID()}/secrets`;
  const open = () => {
    const keySet = ssmKeySetStore(ssmClient(), () => name);
    const former = ssmFormerSecrets(ssmClient(), () => `/runyard-test-${randomUUID()}`);
    return tableVault(dynamoTable(aws.dynamo, table), createVaultKeys(keySet, Date.now), former);
  };

  it("returns values that other processes have stored at the same time, under one SecureString", async () => {
    const ids = Array.from({ length: 23 }, (_, index) => `many-${index}`);
    await Promise.all(ids.map((id) => open().put("team", id, `{{value}} of ${id}`)));
    expect(await open().getAll("team", [...ids, "missing"])).toEqual(
      new Map(ids.map((id) => [id, `{{value}} of ${id}`])),
    );
    const { Parameter } = await ssmClient().send(new GetParameterCommand({ Name: name, WithDecryption: true }));
    expect(Parameter?.Type).toBe("SecureString");
    expect(JSON.parse(Parameter?.Value ?? "").keys).toHaveLength(1);
  });

  it("deletes values by their id, and a second deletion succeeds", async () => {
    await open().put("team", "first", "one");
    await open().put("team", "second", "two");
    await open().remove("team", "first");
    await open().remove("team", "first");
    expect(await open().getAll("team", ["first", "second"])).toEqual(new Map([["second", "two"]]));
    expect(await open().getAll("other", ["second"])).toEqual(new Map());
  });
});

describe("an export of a single machine", () => {
  const importTable = `table-${randomUUID()}`;
  const importBucket = `bucket-${randomUUID()}`;
  const scratch = mkdtempSync(join(tmpdir(), "runyard-import-"));
  afterAll(() => rmSync(scratch, { recursive: true }));

  /** Fills a data directory and exports it. Returns the directory of the export. */
  async function makeExport(name: string, items: readonly Item[]) {
    const [data, to] = [join(scratch, name), join(scratch, `${name}-export`)];
    mkdirSync(data);
    mkdirSync(to);
    const { database, table: source, files } = await openAdapters(data);
    const admin = await bootstrap(source, Date.now(), { teamName: "A", displayName: "B", email: "c@example.com" });
    for (const item of items) await source.write({ kind: "put", item });
    const store = diskFileStore({
      files,
      secret: new Uint8Array(32),
      baseUrl: "http://x",
      downloadSeconds: 1,
      now: Date.now,
    });
    await store.put("runs/Run 1/é/artifacts/a", "content", "text/plain");
    await database.close();
    return { ...admin, to, manifest: await exportData(data, to) };
  }

  it("is imported into a table and a bucket with all items and files, once", async () => {
    await createTable(importTable);
    await createBucket(aws.s3, importBucket);
    const bytes = {
      pk: "RUN#1",
      sk: "MESSAGES#1",
      body: new Uint8Array([0, 255]),
      nested: { list: [1, "t", null, true] },
    };
    const secret = { pk: "TEAM#1", sk: "SECRET#TOKEN", v: 1, team_uid: "1", name: "TOKEN", id: "x", created_at: 1 };
    const many = Array.from({ length: 230 }, (_, n) => ({
      pk: "RUN#2",
      sk: `EVENT#${n}`,
      scope: "TEAM#1#0",
      created_key: `${n}`,
    }));
    const { to, api_key, team_uid, manifest } = await makeExport("first", [bytes, secret, ...many]);
    expect(manifest.secrets).toEqual([{ team_uid: "1", name: "TOKEN" }]);

    const target = awsTarget({ ...aws, table: importTable, bucket: importBucket });
    expect(await importData(to, target, Date.now)).toMatchObject({ files: 1, wasComplete: false });
    const imported = dynamoTable(aws.dynamo, importTable);
    let count = 0;
    for await (const item of readItems(to)) {
      expect(await imported.get(item)).toEqual(item);
      count++;
    }
    expect(count).toBe(manifest.items);
    expect((await imported.query({ index: "gsi2", pk: "TEAM#1#0" })).items).toHaveLength(230);
    const principal = await principalStore(imported, Date.now).authenticate(`Bearer ${api_key}`, undefined);
    expect(principal).toMatchObject({ kind: "personal", teams: [{ uid: team_uid, role: "admin" }] });
    const files = s3FileStore(aws.s3, () => importBucket, 60, Date.now);
    expect(Buffer.from((await files.get("runs/Run 1/é/artifacts/a")) ?? []).toString()).toBe("content");

    expect(await importData(to, target, Date.now)).toMatchObject({ wasComplete: true });
    const other = await makeExport("second", []);
    await expect(importData(other.to, target, Date.now)).rejects.toThrow(`the table ${importTable} is not empty`);
  });
});

describe("a single machine that moves to AWS and back", () => {
  const servers = useServers();

  it("returns the same responses to every GET, on AWS and after the move back", { timeout: 240_000 }, async () => {
    const [home, places, back] = [servers.directory(), servers.directory(), servers.directory()];
    const server = await servers.start(home);
    const resources = await fillServer(server);
    const read = ({ state, call }: Served) =>
      readAll(resources, state.web_url, async (target) => {
        const { status, body, headers } = await call("GET", target);
        return { status, body, location: headers.get("location") ?? undefined };
      });
    const before = await read(server);
    const [there, again] = [join(places, "there.tar.gz"), join(places, "again.tar.gz")];
    expect(await servers.run(home, { command: "export", args: [there] })).toMatchObject({ code: 0 });
    const localState = readFileSync(join(home, "local.json"));
    await server.stop();

    const [movedTable, movedBucket] = [`table-${randomUUID()}`, `bucket-${randomUUID()}`];
    await createTable(movedTable);
    await createBucket(aws.s3, movedBucket);
    const target = awsTarget({ ...aws, table: movedTable, bucket: movedBucket });
    await readSource(there, (directory) => importData(directory, target, Date.now));
    const exported = await writeDestination(again, (directory) =>
      writeExport(directory, awsSource({ ...aws, table: movedTable, bucket: movedBucket })),
    );
    const plane = await createTestControlPlane({ ...dynamoTable(aws.dynamo, movedTable), all: () => [] });
    plane.clock.now = Date.now();
    Object.assign(plane.ports, { files: s3FileStore(aws.s3, () => movedBucket, 60, Date.now) });
    const client = createClient(plane, server.state.api_key);
    const onAws = await readAll(resources, "https://runyard.test", async (at) => {
      const { status, body, headers } = await client.get(at);
      return { status, body, location: headers["location"] };
    });
    expect(onAws).toEqual(before);

    expect(exported.files).toBeGreaterThan(2);
    expect(await servers.run(back, { command: "import", args: [again] })).toMatchObject({ code: 0 });
    writeFileSync(join(back, "local.json"), localState, { mode: 0o600 });
    expect(await read(await servers.start(back))).toEqual(before);
  });
});
